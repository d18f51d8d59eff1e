import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetManifest } from 'aws-cdk-lib/cloud-assembly-schema';
import { stacksIn, type Template } from '../../domain/assembly';

/** One synthesized stack. */
export interface Stack {
  /** As in `cdk deploy --outputs-file`: `WalletEu`. */
  readonly name: string;
  /** The stack's tag `environment`, such as `eu`. @default - the stack's name */
  readonly environment: string;
  readonly region: string;
  readonly template: Template;
  /** The folder or file of each asset, by S3 key. */
  readonly assets: ReadonlyMap<string, string>;
  /** What the row records of the environment's keys, by logical id: the ARNs of the primaries that its stacks replicate. */
  readonly primaryKeyArns: Readonly<Record<string, string>>;
}

/**
 * Reads the stacks of an assembly.
 *
 * @throws Error if a stack has no region
 */
export function readAssembly(directory: string): Stack[] {
  const stacks = readStacks(directory);
  return stacks.map((stack) => {
    const own = stacks.filter(({ environment }) => environment === stack.environment);
    const resources = own.flatMap(({ template }) => Object.entries(template.Resources ?? {}));
    const replicas = resources.filter(([, { Type }]) => Type === 'AWS::KMS::ReplicaKey');
    const arns = replicas.map(([logicalId, { Properties }]) => [logicalId, Properties?.PrimaryKeyArn]);
    return { ...stack, primaryKeyArns: Object.fromEntries(arns) };
  });
}

function readStacks(directory: string): Omit<Stack, 'primaryKeyArns'>[] {
  const read = <T>(file: string) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as T;
  return stacksIn(read('manifest.json')).map(({ name, region, tags, templateFile, assetFiles }) => {
    if (!region || region === 'unknown-region') throw new Error(`The stack ${name} has no region.`);
    const files = assetFiles.flatMap((file) => Object.values(read<AssetManifest>(file).files ?? {}));
    const assets = files.flatMap(({ source, destinations }) => {
      const path = join(directory, source.path ?? '');
      return Object.values(destinations).map(({ objectKey }) => [objectKey, path] as const);
    });
    const template = read<Template>(templateFile);
    return { name, region, template, environment: tags.environment ?? name, assets: new Map(assets) };
  });
}

/** The stacks with an API (a standby has none), in manifest order. */
export const servingStacks = (stacks: readonly Stack[]): readonly Stack[] =>
  stacks.filter(({ template }) =>
    Object.values(template.Resources ?? {}).some(({ Type }) => Type === 'AWS::ApiGateway::RestApi'),
  );

type StackIdentity = Pick<Stack, 'name' | 'region'>;

/** The AWS account of every local environment. */
export const LOCAL_ACCOUNT_ID = '000000000000';

/** A physical name like those that CloudFormation generates, but the same on every start. */
export const physicalName = (stack: Pick<Stack, 'name'>, logicalId: string): string =>
  `${stack.name}-${logicalId}`;

/** `resource` is the ARN's last part, such as `function:NAME`. */
export const arn = ({ region }: Pick<Stack, 'region'>, service: string, resource: string): string =>
  `arn:aws:${service}:${region}:${LOCAL_ACCOUNT_ID}:${resource}`;

/** Hexadecimal digits, the same on every start. */
export const resourceHash = ({ name, region }: StackIdentity, logicalId: string): string =>
  createHash('sha256').update(`${region}/${name}/${logicalId}`).digest('hex');
