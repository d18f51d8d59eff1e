import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sources } from '../../local/assembly/cache';
import { physicalName, readAssembly, type Stack, servingStacks } from '../../local/assembly/manifest';
import { projectRoot } from '../../local/assembly/synthesis';
import type { FunctionCode } from '../../local/aws/lambda/function';
import { watchSources } from '../../local/watch';
import { eventually } from '../support/eventually';
import { copyAssembly } from '../support/prepared-state';
import { first } from '../support/rows';

/** A copy of the project, whose app writes the stacks that it had, with the page's digest, and the table in the first one. */
const root = mkdtempSync(join(tmpdir(), 'wallet-watch-'));
const assembly = join(root, '.local/cdk.out');
const app = `
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
const read = (file: string) => readFileSync(file, 'utf8');
const assembly = process.env.CDK_OUTDIR ?? '';
cpSync('${assembly}', assembly, { recursive: true });
const digest = "'sha256-" + read('dashboard/page.css').length + "'";
for (const name of readdirSync(assembly).filter((each) => each.endsWith('.template.json'))) {
  const template = JSON.parse(read(assembly + '/' + name).replace(/'sha256-[^']*'/g, digest));
  if (name.startsWith('${first.stackId}.')) template.Description = read('lib/environments.ts');
  writeFileSync(assembly + '/' + name, JSON.stringify(template));
}
`;
const ending = new AbortController();
const said: string[] = [];
const restarted: string[] = [];
let functions: ReturnType<typeof createFunctions>;

beforeAll(async () => {
  for (const name of sources.filter((each) => !each.startsWith('node_modules')))
    cpSync(join(projectRoot, name), join(root, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'bin/app.ts'), app);
  await copyAssembly(assembly);
  const stacks = servingStacks(readAssembly(assembly));
  functions = stacks.flatMap(createFunctions);
  const local = {
    environments: stacks.map((stack) => ({ stack })),
    functions: { all: () => functions, find: (name: string) => functions.find((each) => each.name === name) },
    restart: async ({ environment }: Stack) => void restarted.push(environment),
  };
  const log = { step: (line: string) => said.push(line), problem: (line: string) => said.push(line) };
  const options = { local, assembly, root, log, signal: ending.signal };
  watchSources(options as unknown as Parameters<typeof watchSources>[0]);
  await eventually(() => said.includes('Edits of the sources are served'), 60);
});
afterAll(() => {
  ending.abort();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
});

/** The functions of a stack, which only have code. */
const createFunctions = (stack: Stack) =>
  Object.entries(stack.template.Resources).flatMap(([logicalId, { Type, Properties }]) => {
    if (Type !== 'AWS::Lambda::Function') return [];
    const code: FunctionCode = {
      bundleDirectory: stack.assets.get(Properties?.Code.S3Key) ?? '',
      variables: Properties?.Environment?.Variables ?? {},
    };
    const use = (next: FunctionCode) => Object.assign(code, next);
    return { name: physicalName(stack, logicalId), code: () => code, use };
  });

/** Files and variables of the first environment's function for the dashboard. */
function dashboard(): string {
  const isDashboard = ({ name }: { name: string }) => name.startsWith(`${first.stackId}-DashboardServe`);
  const { bundleDirectory = '', variables } = functions.find(isDashboard)?.code() ?? {};
  const files = readdirSync(bundleDirectory).map((name) => readFileSync(join(bundleDirectory, name)));
  return [...files, JSON.stringify(variables)].join('\n');
}

/** Replaces a file, as editors do. */
function edit(file: string, from: string, to: string): void {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(`${path}.new`, text.replace(from, to));
  renameSync(`${path}.new`, path);
}

const served = (text: string) => eventually(() => dashboard().includes(text), 60);

it('serves an edit of the page and of a function, and keeps the last that compiles', async () => {
  const style = () => /style-src ('sha256-[^']+')/.exec(dashboard())?.[1];
  const before = style();
  edit('dashboard/page.css', 'body {', 'body { outline: 3px solid;');
  await served('outline:3px solid');
  // Its digest is in a variable: the browser would not apply another style.
  expect([before, style()]).toEqual([
    expect.stringContaining('sha256'),
    expect.not.stringContaining(`${before}`),
  ]);

  const handler = 'lambda/serve-dashboard/handler.ts';
  edit(handler, 'statusCode: 200', 'statusCode: 202');
  await served('statusCode:202');
  edit(handler, 'statusCode: 202', 'statusCode: 20,3,');
  await eventually(() => said.some((line) => line.includes(`${handler}:`)), 60);
  await served('statusCode:202');
  edit(handler, 'statusCode: 20,3,', 'statusCode: 203');
  await served('statusCode:203');
  expect(dashboard()).toContain('outline:3px solid');
});

it('starts only the environment again whose template an edit changes', async () => {
  // Its description is new since the first edit, and the page's digest is no difference.
  await eventually(() => restarted.length > 0, 60);
  edit('lib/environments.ts', '', '// Edited.\n');
  await eventually(() => restarted.length > 1, 60);
  expect(restarted).toEqual([first.name, first.name]);
  await served('statusCode:203');
});
