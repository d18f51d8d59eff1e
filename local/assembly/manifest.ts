import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  ArtifactManifest,
  AssemblyManifest,
  AssetManifest,
  AssetManifestProperties,
  AwsCloudFormationStackProperties,
} from 'aws-cdk-lib/cloud-assembly-schema';

/** A resource as a template states it. */
export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
  readonly Condition?: string;
}

/** A CloudFormation template: the parts that are read here. */
export interface Template {
  readonly Parameters?: Readonly<
    Record<string, { readonly Type: string; readonly Default?: string | number }>
  >;
  readonly Mappings?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Condition?: string }>>;
}

/** One synthesized stack. */
export interface Stack {
  /** As `cdk deploy` names it in `--outputs-file`: `WalletEu`. */
  readonly name: string;
  /** By its tag: `eu`. @default - the name of the stack */
  readonly environment: string;
  /** What the environment is for, as its page says it. */
  readonly purpose: string;
  readonly testFundsOnly: boolean;
  readonly region: string;
  readonly template: Template;
  /** From the S3 key of an asset, as the template states it, to its folder or file in the assembly. */
  readonly assets: ReadonlyMap<string, string>;
}

/**
 * Reads the stacks of a cloud assembly: what `cdk synth` leaves in `cdk.out`.
 *
 * Source: https://docs.aws.amazon.com/cdk/api/v2/docs/cloud-assembly-schema-readme.html
 *
 * @throws Error when a stack has no region
 */
export function readAssembly(directory: string): Stack[] {
  const read = <T>(file: string) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as T;
  const { artifacts = {} } = read<AssemblyManifest>('manifest.json');

  function assetsOf({ dependencies = [] }: ArtifactManifest): Map<string, string> {
    const manifests = dependencies.flatMap((id) => {
      const { type, properties } = artifacts[id] ?? {};
      return type === 'cdk:asset-manifest'
        ? [read<AssetManifest>((properties as AssetManifestProperties).file)]
        : [];
    });
    const assets = manifests.flatMap(({ files = {} }) => Object.values(files));
    return new Map(
      assets.flatMap(({ source: { path }, destinations }) =>
        path === undefined
          ? []
          : Object.values(destinations).map(({ objectKey }) => [objectKey, join(directory, path)] as const),
      ),
    );
  }

  return Object.entries(artifacts)
    .filter(([, { type }]) => type === 'aws:cloudformation:stack')
    .map(([id, artifact]) => {
      const properties = artifact.properties as AwsCloudFormationStackProperties;
      const { stackName = id, templateFile, tags = {} } = properties;
      const region = artifact.environment?.split('/').at(-1);
      if (!region || region === 'unknown-region') throw new Error(`The stack ${id} states no region.`);
      const template = read<Template>(templateFile);
      return {
        name: stackName,
        environment: tags.environment ?? stackName,
        purpose: purposeIn(template),
        testFundsOnly: tags['test-funds-only'] === 'true',
        region,
        template,
        assets: assetsOf(artifact),
      };
    });
}

/** The stacks that have an API, in the order of the manifest: a standby has none. */
export const servingStacks = (stacks: readonly Stack[]): readonly Stack[] =>
  stacks.filter(({ template }) =>
    Object.values(template.Resources ?? {}).some(({ Type }) => Type === 'AWS::ApiGateway::RestApi'),
  );

/** The page has it in one of the variables of its function, which are texts of JSON. */
function purposeIn({ Resources = {} }: Partial<Template>): string {
  const functions = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
  const variables = functions.map(({ Properties }) => JSON.stringify(Properties?.Environment));
  return /\\"purpose\\":\\"([^"\\]*)/.exec(variables.join('\n'))?.[1] ?? '';
}
