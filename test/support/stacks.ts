import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { type ListedStack, stacksIn, type Template, type TemplateResource } from '../../domain/assembly';
import { type Environment, inForce } from '../../lib/environment/schema';
import type * as application from '../../lib/environments-app';
import { oncePerRun } from './once-per-run';
import { shapes } from './rows';
import { environments as table } from './table';
import { withTemporaryFolder } from './temporary-folder';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
export type Json = any;

export type Resource = TemplateResource & { readonly logicalId: string; readonly Properties: Json };

export class StackTemplate {
  readonly name: string;
  readonly json: Readonly<Record<keyof Template, Json>>;

  constructor(
    readonly environment: Environment,
    readonly text: string,
    readonly listed: ListedStack,
    /** The stacks that are deployed before it. */
    readonly dependencies: readonly string[],
  ) {
    this.name = listed.name;
    this.json = JSON.parse(text);
  }

  get serves(): boolean {
    return this.name === this.environment.stackId;
  }

  all(type: string): Resource[] {
    return this.resources.filter((resource) => resource.Type === type);
  }

  get(logicalId: string): Resource {
    expect(Object.keys(this.json.Resources)).toContain(logicalId);
    return { logicalId, ...this.json.Resources[logicalId] };
  }

  only(type: string): Resource {
    return this.named(type, '');
  }

  /** The one resource of a type whose logical id has this prefix. */
  named(type: string, prefix: string): Resource {
    const found = this.all(type).filter(({ logicalId }) => logicalId.startsWith(prefix));
    expect(found.map(({ logicalId }) => logicalId)).toHaveLength(1);
    return found[0] as Resource;
  }

  get resources(): Resource[] {
    return Object.entries<Json>(this.json.Resources).map(([logicalId, all]) => ({ logicalId, ...all }));
  }

  /** The statements of the policies of a function's role. */
  statementsOf(lambda: Resource): Json[] {
    const role = lambda.Properties.Role['Fn::GetAtt'][0];
    const inline: Json[] = this.get(role).Properties.Policies ?? [];
    const attached = this.all('AWS::IAM::Policy').map(({ Properties }) => Properties);
    const own = attached.filter(({ Roles }) => Roles.some(({ Ref }: Json) => Ref === role));
    return [...inline, ...own].flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  }
}

/** Synthesizes every stack of the environments, including standbys, by stack name. Each row once in a run. */
export function synthesizeEveryStack(environments: readonly Environment[] = table) {
  const stacks: Record<string, StackTemplate> = {};
  for (const environment of environments) {
    const what = `stacks of ${JSON.stringify(environment)}`;
    const made = oncePerRun(what, () => JSON.stringify(synthesize(environment)));
    for (const { text, listed, dependencies } of JSON.parse(made) as ReturnType<typeof synthesize>)
      stacks[listed.name] = new StackTemplate(inForce(environment), text, listed, dependencies);
  }
  return stacks;
}

const synthesize = (environment: Environment) =>
  withTemporaryFolder((outdir) => {
    // Loaded when needed: most test files only read templates that others synthesized.
    const { createApp }: typeof application = require('../../lib/environments-app');
    const environments = [environment];
    const { manifest } = createApp({ outdir, environments, validateTemplates: false }).synth();
    return stacksIn(manifest).map((listed) => ({
      text: readFileSync(join(outdir, listed.templateFile), 'utf8'),
      listed,
      dependencies: manifest.artifacts?.[listed.name]?.dependencies ?? [],
    }));
  });

export const stackOf = (row: Environment) =>
  synthesizeEveryStack([row])[inForce(row).stackId] as StackTemplate;

export function stacksOfShapes(): readonly (readonly [title: string, stack: StackTemplate])[] {
  const rows = Object.values(shapes);
  const first = process.pid % rows.length;
  // Processes begin with different ones, so that none waits for another.
  synthesizeEveryStack([...rows.slice(first), ...rows.slice(0, first)]);
  return Object.entries(shapes).flatMap(([shape, row]) =>
    Object.values(synthesizeEveryStack([row])).map((stack) => [`${stack.name}, ${shape}`, stack] as const),
  );
}

/**
 * An empty app for a test, whose output folder is removed. CloudFormation's rules check templates with the whole app
 * (test/tools/synthesis.tool.ts), and take 4 seconds to load.
 */
export const withApp = <Result>(use: (app: App) => Result): Result =>
  withTemporaryFolder((outdir) => use(new App({ outdir, builtinCloudFormationValidation: false })));
