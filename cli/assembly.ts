import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed } from './failure';
import { inProject } from './pasted-command';

export interface AssembledStack {
  readonly name: string;
  readonly region: string;
  /** @default - that of the credentials */
  readonly account: string | undefined;
  /** The CDK's bucket in the stack's region; without an account it has the CDK's placeholder. */
  readonly bucket: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The version of the CDK's bootstrap stack that the stack needs, and the SSM parameter that holds the account's. */
  readonly bootstrap: { readonly version: number; readonly parameter: string };
  readonly template: {
    readonly Parameters?: Readonly<Record<string, object>>;
    readonly Resources: Readonly<Record<string, AssembledResource>>;
  };
}

export interface AssembledResource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the properties of every type
  readonly Properties?: any;
}

const remedy = `Name the folder with --assembly, or synthesize the stacks: ${inProject('npm run synth')}`;

/** Reads a stack of a cloud assembly. @throws CommandFailed when the folder is no assembly, or has no such stack */
export function readAssembledStack(folder: string, name: string): AssembledStack {
  const { environment, properties } = readJson(join(folder, 'manifest.json')).artifacts?.[name] ?? {};
  if (!properties?.templateFile) throw new CommandFailed(`${folder} has no stack ${name}.`, remedy);
  const [, bucket = ''] = /^s3:\/\/([^/]+)\//.exec(properties.stackTemplateAssetObjectUrl) ?? [];
  // Such as aws://111122223333/eu-central-1, or aws://unknown-account/eu-central-1.
  const [, account, region = ''] = /^aws:\/\/(?:(\d{12})|[\w-]+)\/([\w-]+)$/.exec(environment) ?? [];
  return {
    name,
    region,
    account,
    bucket,
    tags: properties.tags ?? {},
    bootstrap: {
      version: properties.requiresBootstrapStackVersion,
      parameter: properties.bootstrapStackVersionSsmParameter,
    },
    template: readJson(join(folder, properties.templateFile)),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the CDK's format
function readJson(file: string): any {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read: ${(error as Error).message}.`, remedy);
  }
}
