import { join, resolve } from 'node:path';
import { Option } from 'commander';
import { type AssembledStack, stacksIn } from '../../domain/assembly';
import { CommandFailed } from '../shell/failure';
import { readJson } from '../shell/json';
import { path } from '../shell/options';

export const assemblyOption = () =>
  new Option('--assembly <folder>', 'the output of "npm run synth"')
    .argParser(path)
    .default(resolve(__dirname, '../../cdk.out'), 'cdk.out of this project');

const remedy = `Name the folder with --assembly, or synthesize the stacks: npm run synth`;

export const listStacks = (folder: string) => stacksIn(readJson(join(folder, 'manifest.json'), remedy));

/** @throws CommandFailed without the stack or its template */
export function readAssembledStack(folder: string, name: string): AssembledStack {
  const stack = listStacks(folder).find((each) => each.name === name);
  if (!stack) throw new CommandFailed(`${folder} has no stack ${name}.`, remedy);
  return { ...stack, template: readJson(join(folder, stack.templateFile), remedy) };
}
