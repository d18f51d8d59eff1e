import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { sources } from '../../local/assembly/cache';
import { projectRoot } from '../../local/assembly/synthesis';
import { removePostgres } from '../../local/postgres/postgres';
import { localClient } from '../support/aws-client';
import { eventually } from '../support/eventually';
import { type LocalCommand, startLocalCommandIn } from '../support/local-command';
import { openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { databaseDirectory } from '../support/postgres';
import { prepareAssembly } from '../support/prepared-state';
import { first, oneOfEachAccess } from '../support/rows';

jest.setTimeout(180_000);

const changing = first.name;
const other = oneOfEachAccess.find(({ name }) => name !== changing)?.name ?? '';
const names = [changing, other];
const copy = mkdtempSync(join(tmpdir(), 'wallet-watch-'));
const state = join(copy, '.local');
let command: LocalCommand;

beforeAll(async () => {
  for (const name of [...sources, 'local'].filter((each) => !each.startsWith('node_modules')))
    cpSync(join(projectRoot, name), join(copy, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  await prepareAssembly(state);
  const chosen = names.flatMap((name) => ['--environment', name]);
  command = startLocalCommandIn(copy, '--watch', '--port-offset', 'any', ...chosen);
  await command.ready();
  await said('Edits of the sources are served');
});
afterAll(async () => {
  command?.process.kill('SIGINT');
  await command?.ended();
  await Promise.all(names.map((name) => removePostgres(databaseDirectory(state, name))));
  rmSync(copy, { recursive: true, force: true });
});

const said = (text: string) => eventually(() => command.said.stderr.includes(text), 90);

/** Replaces a file, as editors do. */
function edit(file: string, from: string, to: string): void {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(`${path}.new`, text.replace(from, to));
  renameSync(`${path}.new`, path);
}

const dashboard = (name: string) => fetch(openLocalEnvironment(state).outputs(name).DashboardUrl ?? '');

it('serves an edit of the page, of a function and of what they share, and keeps the last that compiles', async () => {
  edit('dashboard/page.html', '<title>', '<title>Edited: ');
  await eventually(async () => (await (await dashboard(other)).text()).includes('Edited: '), 60);

  // Its digest is in a variable, too: the page would not run an unknown script.
  edit('dashboard/page.css', 'body {', 'body { outline: 3px solid;');
  await eventually(async () => (await (await dashboard(changing)).text()).includes('outline:3px solid'), 60);
  const handler = 'lambda/serve-dashboard/handler.ts';
  edit(handler, 'statusCode: 200', 'statusCode: 202');
  await eventually(async () => (await dashboard(changing)).status === 202, 60);

  edit(handler, 'statusCode: 202', 'statusCode: 20,3,');
  await said(`${handler}:`);
  expect((await dashboard(changing)).status).toBe(202);
  edit(handler, 'statusCode: 20,3,', 'statusCode: 203');
  await eventually(async () => (await dashboard(changing)).status === 203, 60);
});

it('starts only the environment again whose template an edit changes, with its messages and data', async () => {
  const local = openLocalEnvironment(state);
  const { userGroupId, callerId } = await local.walletJson<Organization>(changing, 'seed');
  const QueueUrl = local.outputs(changing).WebhookEventsQueueUrl ?? '';
  const sqs = new SQSClient(localClient(local.endpoints.sqs ?? ''));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'waits', DelaySeconds: 900 }));
  const starts = (name: string) => command.said.stderr.split(`Started ${name}:`).length - 1;
  // The first row's.
  edit('lib/environments.ts', 'requestsPerSecond: ', 'requestsPerSecond: 1 + ');
  await eventually(() => starts(changing) === 2, 120);
  expect(starts(other)).toBe(1);
  const AttributeNames = ['ApproximateNumberOfMessagesDelayed' as const];
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
  expect(Attributes).toEqual({ ApproximateNumberOfMessagesDelayed: '1' });
  sqs.destroy();
  const deletion = await local.wallet(changing, 'delete-group', '--group', userGroupId, '--caller', callerId);
  expect(deletion).toContain('200');
});
