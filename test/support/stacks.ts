import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { createApp } from '../../lib/app';
import type { Environment } from '../../lib/environment/environment';
import { environments as table } from '../../lib/environments';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

export interface Resource {
  readonly logicalId: string;
  readonly Type: string;
  readonly Properties: Json;
  readonly Metadata?: Json;
  readonly Condition?: string;
  readonly DependsOn?: readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** A synthesized stack, as CloudFormation would get it. */
export class StackTemplate {
  constructor(
    readonly environment: Environment,
    readonly text: string,
    /** The stack's properties in the assembly's manifest. */
    readonly manifest: Json,
  ) {
    this.json = JSON.parse(text);
  }

  readonly json: Json;

  all(type: string): Resource[] {
    return this.resources.filter((resource) => resource.Type === type);
  }

  /** The one resource of a type. */
  only(type: string): Resource {
    const found = this.all(type);
    expect(found.map(({ logicalId }) => logicalId)).toHaveLength(1);
    return found[0] as Resource;
  }

  get(logicalId: string): Resource {
    expect(Object.keys(this.json.Resources)).toContain(logicalId);
    return { logicalId, ...this.json.Resources[logicalId] };
  }

  /** The resource of a type whose logical id begins so. */
  named(type: string, prefix: string): Resource {
    const found = this.all(type).filter(({ logicalId }) => logicalId.startsWith(prefix));
    expect(found.map(({ logicalId }) => logicalId)).toHaveLength(1);
    return found[0] as Resource;
  }

  get resources(): Resource[] {
    return Object.entries(this.json.Resources).map(([logicalId, resource]) => ({
      logicalId,
      ...(resource as Omit<Resource, 'logicalId'>),
    }));
  }

  /** The statements of the policies of a function's role. */
  statementsOf(lambda: Resource): Json[] {
    const role = lambda.Properties.Role['Fn::GetAtt'][0];
    const inline = (this.get(role).Properties.Policies ?? []) as Json[];
    const attached = this.all('AWS::IAM::Policy').filter(({ Properties }) =>
      Properties.Roles.some((reference: Json) => reference.Ref === role),
    );
    return [...inline, ...attached.map(({ Properties }) => Properties)].flatMap(
      ({ PolicyDocument }) => PolicyDocument.Statement,
    );
  }
}

/** Synthesizes the environments' stacks, and leaves nothing on the disk. By the environment's name. */
export function synthesizeStacks(
  environments: readonly Environment[] = table,
): Record<string, StackTemplate> {
  const outdir = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  try {
    const assembly = createApp({ outdir, environments, validateTemplates: false }).synth();
    return Object.fromEntries(
      environments.map((environment) => {
        const stack = assembly.getStackByName(environment.stackId);
        const text = readFileSync(stack.templateFullPath, 'utf8');
        return [
          environment.name,
          new StackTemplate(environment, text, assembly.manifest.artifacts?.[stack.id]),
        ];
      }),
    );
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

/** One environment of the table, with changes. */
export function environmentLike(name: string, changes: Partial<Environment> = {}): Environment {
  const found = table.find((environment) => environment.name === name);
  if (found === undefined) throw new Error(`No environment ${name}`);
  return { ...found, ...changes };
}

/** The stack of an environment with this access, whichever the table gives it. */
export function stackWithAccess(name: string, databaseAccess: Environment['databaseAccess']): StackTemplate {
  return synthesizeStacks([environmentLike(name, { databaseAccess })])[name] as StackTemplate;
}

/** The table with whatever else its rows may have: names and a zone of one's own, somebody to be told, a standby to promote. */
export function environmentsWithEveryOption(): readonly Environment[] {
  return table.map((row) => ({
    ...row,
    ...(row.serviceLevelAgreement && { alarmEmail: 'on-call@example.com' }),
    domainNames: {
      api: `api.${row.name}.example.com`,
      dashboard: `dashboard.${row.name}.example.com`,
      hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' },
    },
    ...(row.standby && { standby: { ...row.standby, instances: 2 } }),
  }));
}

/** An app of its own for a test, which leaves nothing on the disk. */
export function withApp<Result>(use: (app: App) => Result): Result {
  const outdir = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  try {
    return use(new App({ outdir }));
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

/** Names of the files and folders in the folder for temporary ones that begin so. */
export function temporaryFiles(prefix: string): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(prefix));
}
