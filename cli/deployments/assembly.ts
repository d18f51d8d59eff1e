import { join, resolve } from 'node:path';
import { Option } from 'commander';
import { CommandFailed } from '../shell/failure';
import { readJson } from '../shell/json';
import { path } from '../shell/options';
import type { Template } from './effects';

export type AssembledStack = ReturnType<typeof readAssembledStack>;

export const assemblyOption = () =>
  new Option('--assembly <folder>', 'the output of "npm run synth"')
    .argParser(path)
    .default(resolve(__dirname, '../../cdk.out'), 'cdk.out of this project');

const remedy = `Name the folder with --assembly, or synthesize the stacks: npm run synth`;

export function readAssembledStack(folder: string, name: string) {
  const { environment, properties } = readJson(join(folder, 'manifest.json'), remedy).artifacts?.[name] ?? {};
  if (!properties?.templateFile) throw new CommandFailed(`${folder} has no stack ${name}.`, remedy);
  // Such as aws://111122223333/eu-central-1, or aws://unknown-account/eu-central-1.
  const [, account, region = ''] = /^aws:\/\/(?:(\d{12})|[\w-]+)\/([\w-]+)$/.exec(environment) ?? [];
  return {
    name,
    region,
    environment: environment as string,
    terminationProtection: properties.terminationProtection === true,
    /** Undefined: the credentials' account. */
    account,
    /** The CDK's bucket in the stack's region; without an account its name contains the CDK's placeholder. */
    bucket: /^s3:\/\/([^/]+)\//.exec(properties.stackTemplateAssetObjectUrl)?.[1] ?? '',
    tags: (properties.tags ?? {}) as Readonly<Record<string, string>>,
    template: readJson(join(folder, properties.templateFile), remedy) as Template,
  };
}
