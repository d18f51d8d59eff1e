import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../../local/aws/lambda/instance';
import { watchSources } from '../../local/watch';
import { eventually } from '../support/eventually';
import { startInProcess, startOwnEnvironments } from '../support/own-environments';
import { copyProject } from '../support/project-copy';
import { first } from '../support/rows';

/** A copy of the project, whose app writes the stacks that it had, with a new dashboard, and an edit of the table as an output. */
const root = mkdtempSync(join(tmpdir(), 'wallet-watch-'));
const app = `
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { buildSync } from 'esbuild';
import { buildPage } from '../lib/dashboard/page';
import { handlerBuild } from '../lib/functions/bundles';

const assembly = process.env.CDK_OUTDIR ?? '';
cpSync('stacks', assembly, { recursive: true });
const read = (name: string) => JSON.parse(readFileSync(assembly + '/${first.stackId}.' + name + '.json', 'utf8'));
const write = (name: string, text: unknown) =>
  writeFileSync(assembly + '/${first.stackId}.' + name + '.json', JSON.stringify(text));
const { html, headers } = buildPage();
const [bundle] = buildSync(handlerBuild('data-api', ['serve-dashboard'])).outputFiles;
const template = read('template');
const assets = read('assets');
for (const { Properties } of Object.values<any>(template.Resources)) {
  if (!Properties?.Environment?.Variables?.FACTS) continue;
  Properties.Environment.Variables.RESPONSE_HEADERS = JSON.stringify(headers);
  const { source } = assets.files[Properties.Code.S3Key.replace('.zip', '')];
  const path = 'asset.' + createHash('sha256').update(html + bundle?.text).digest('hex');
  cpSync(assembly + '/' + source.path, assembly + '/' + path, { recursive: true });
  writeFileSync(assembly + '/' + path + '/index.html', html);
  writeFileSync(assembly + '/' + path + '/index.js', bundle?.text ?? '');
  source.path = path;
}
const [edited] = /\\/\\/ Edited\\./.exec(readFileSync('lib/environments.ts', 'utf8')) ?? [];
if (edited) template.Outputs.Edited = { Value: edited };
write('template', template);
write('assets', assets);
`;
const ending = new AbortController();
const said: string[] = [];
let own: Awaited<ReturnType<typeof startOwnEnvironments>>;

beforeAll(async () => {
  copyProject(root);
  own = await startOwnEnvironments({
    environments: [first.name],
    runtime: (code) => (code.bundleDirectory.includes('.edits') ? startProcess : startInProcess)(code),
  });
  const assembly = own.state.assemblyDirectory;
  cpSync(assembly, join(root, 'stacks'), { recursive: true });
  writeFileSync(join(root, 'bin/app.ts'), app);
  const log = { step: (line: string) => said.push(line), problem: (line: string) => said.push(line) };
  watchSources({ local: own.local, assembly, root, log, signal: ending.signal });
  await eventually(() => said.includes('Edits of the sources are served'), 60);
});
afterAll(async () => {
  ending.abort();
  await own.stop();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
});

/** Replaces a file, as editors do. */
function edit(file: string, from: string, to: string): void {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(`${path}.new`, text.replace(from, to));
  renameSync(`${path}.new`, path);
}

const outputs = () => JSON.parse(readFileSync(own.state.outputsFile, 'utf8'))[first.stackId];
const get = () => fetch(outputs().DashboardUrl);
const status = async () => (await get()).status;
/** Until it has said this as often. */
const saidTimes = (pattern: RegExp, count: number) =>
  eventually(() => expect(said.filter((line) => pattern.test(line))).toHaveLength(count), 60);

const handler = 'lambda/serve-dashboard/handler.ts';
const declared = 'export const handler = bindDependencies(';
const failing = `null!.nothing;\n${declared}`;

it('serves an edit of a function, and keeps the last version that loads, with the place of the problem', async () => {
  const told = (problem: string) =>
    saidTimes(
      new RegExp(`^${handler}:\\d+:\\d+: ${problem}(.|\\n)*The previous version of .* is still served\\.$`),
      1,
    );
  edit(handler, 'statusCode: 200', 'statusCode: 202');
  await eventually(async () => (await status()) === 202, 60);
  await saidTimes(/^Serving the edit: serve-dashboard$/, 1);
  edit(handler, 'statusCode: 202', 'statusCode: 20,3');
  await told('Expected ');
  edit(handler, 'statusCode: 20,3', 'statusCode: 203');
  edit(handler, declared, failing);
  await told('TypeError: .*nothing');
  expect(await status()).toBe(202);
});

it('serves an edit of the page, and starts the environment again whose template has changed', async () => {
  edit(handler, failing, declared);
  edit('dashboard/page.css', 'body {', 'body { outline: 3px solid;');
  await eventually(async () => (await (await get()).text()).includes('outline:3px solid'), 60);
  // Its digest is in a variable: the browser would not apply another style.
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(await (await get()).text()) ?? [];
  const digest = createHash('sha256').update(style).digest('base64');
  expect((await get()).headers.get('content-security-policy')).toContain(`'sha256-${digest}'`);
  await saidTimes(/^The template of .* has changed/, 0);

  appendFileSync(join(root, 'lib/environments.ts'), '// Edited.\n');
  await eventually(() => outputs().Edited === '// Edited.', 60);
  await eventually(async () => (await status()) === 203, 60);
  await saidTimes(/^The template of .* has changed/, 1);
  // Nothing of the first start is kept.
  const names = own.local.functions.all().map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
