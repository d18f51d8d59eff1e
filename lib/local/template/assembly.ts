import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
  readonly region: string;
  readonly template: Template;
  /** From the S3 key of an asset, as the template states it, to its folder or file in the assembly. */
  readonly assets: ReadonlyMap<string, string>;
}

interface Manifest {
  readonly artifacts: Readonly<Record<string, Artifact>>;
}
interface Artifact {
  readonly type: string;
  readonly environment?: string;
  readonly properties?: {
    readonly templateFile?: string;
    readonly file?: string;
    readonly stackName?: string;
  };
  readonly dependencies?: readonly string[];
}
interface AssetManifest {
  readonly files?: Readonly<
    Record<
      string,
      {
        readonly source: { readonly path?: string };
        readonly destinations: Readonly<Record<string, { readonly objectKey: string }>>;
      }
    >
  >;
}

/**
 * Reads the stacks of a cloud assembly: what `cdk synth` leaves in `cdk.out`.
 *
 * Source: https://docs.aws.amazon.com/cdk/api/v2/docs/cloud-assembly-schema-readme.html
 *
 * @throws Error when a stack has no region: which one it is to stand for is then unknown.
 */
export function readAssembly(directory: string): Stack[] {
  const { artifacts } = readJson<Manifest>(join(directory, 'manifest.json'));
  return Object.entries(artifacts)
    .filter(([, artifact]) => artifact.type === 'aws:cloudformation:stack')
    .map(([id, artifact]) => ({
      name: artifact.properties?.stackName ?? id,
      region: regionOf(id, artifact),
      template: readJson<Template>(
        join(directory, artifact.properties?.templateFile ?? `${id}.template.json`),
      ),
      assets: readAssets(directory, artifact, artifacts),
    }));
}

function regionOf(id: string, artifact: Artifact): string {
  const region = artifact.environment?.split('/').at(-1);
  if (!region || region === 'unknown-region') throw new Error(`The stack ${id} states no region.`);
  return region;
}

function readAssets(
  directory: string,
  stack: Artifact,
  artifacts: Manifest['artifacts'],
): Map<string, string> {
  const assets = new Map<string, string>();
  for (const dependency of stack.dependencies ?? []) {
    const artifact = artifacts[dependency];
    if (artifact?.type !== 'cdk:asset-manifest' || !artifact.properties?.file) continue;
    const manifest = readJson<AssetManifest>(join(directory, artifact.properties.file));
    for (const { source, destinations } of Object.values(manifest.files ?? {})) {
      if (!source.path) continue;
      for (const { objectKey } of Object.values(destinations))
        assets.set(objectKey, join(directory, source.path));
    }
  }
  return assets;
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
