import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed } from '../failure';
import { inProject } from '../pasted-command';

const remedy = `Name the folder with --assembly, or synthesize the stacks: ${inProject('npm run synth')}`;

/** A stack of an assembly, as `npm run synth` or `cdk synth` wrote it. */
export interface AssembledStack {
  /** As CloudFormation gets it. */
  readonly template: string;
  /** Names of the template's parameters. */
  readonly parameters: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  /** The CDK's bucket in the stack's region. @param account for an assembly that names none */
  bucket(account: string): string;
}

interface Artifact {
  readonly properties?: {
    readonly templateFile?: string;
    readonly stackTemplateAssetObjectUrl?: string;
    readonly tags?: Readonly<Record<string, string>>;
  };
}

/** Stands in an assembly whose account the credentials decide. */
const accountPlaceholder = `\${AWS::AccountId}`;

/** @throws CommandFailed when the folder is no assembly, or has no such stack */
export function readAssembledStack(folder: string, stackId: string): AssembledStack {
  const manifest = readJson(join(folder, 'manifest.json')) as {
    readonly artifacts?: Readonly<Record<string, Artifact>>;
  };
  const {
    templateFile,
    stackTemplateAssetObjectUrl,
    tags = {},
  } = manifest.artifacts?.[stackId]?.properties ?? {};
  if (!templateFile || !stackTemplateAssetObjectUrl) {
    throw new CommandFailed(`${folder} has no stack ${stackId}.`, remedy);
  }
  const template = readJson(join(folder, templateFile)) as { readonly Parameters?: object };
  const [, bucketName = ''] = /^s3:\/\/([^/]+)\//.exec(stackTemplateAssetObjectUrl) ?? [];
  return {
    template: JSON.stringify(template),
    parameters: Object.keys(template.Parameters ?? {}),
    tags,
    bucket: (account) => bucketName.replace(accountPlaceholder, account),
  };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read: ${(error as Error).message}.`, remedy);
  }
}
