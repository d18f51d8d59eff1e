import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { arn, resourceHash } from '../../local/assembly/manifest';
import { readSource } from '../architecture/sources';
import { shellFor } from '../docs/shell';
import { send, walletDeletion } from '../support/api';
import { localClient } from '../support/aws-client';
import { localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { running } from '../support/rows';
import { startTestQueues, type TestQueue } from '../support/sqs';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const pages = ['emergencies', 'alarms'].map((name) => readSource(`docs/runbook/${name}.md`));
/** A block of commands, by a text in it. */
const block = (text: string) =>
  pages
    .join('\n')
    .split('```sh\n')
    .map((each) => each.split('```')[0] ?? '')
    .find((each) => each.includes(text)) ?? '';

/** Runs commands of the runbook, with jq, with this program as the AWS command line, and with variables for those that the reader fills in. */
async function run(commands: string, aws: string, variables: Readonly<Record<string, string>> = {}) {
  const program = `const [, , service, command, ...rest] = process.argv;\nconst given = (name) => rest[rest.indexOf(name) + 1];\n${aws}`;
  writeFileSync(join(folder(), 'aws.js'), program);
  const filled = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`);
  const others = commands.replace(/\b[A-Z_]+=\S*…\S*/g, '');
  const own = { aws: `"${process.execPath}" aws.js "$@"`, jq: 'command jq "$@"' };
  await promisify(execFile)(...shellFor(`set -eo pipefail\n${filled.join('')}${others}`, folder(), own));
}

/** What the product adds to a message: a group, and to a dead letter its reason. */
const because = (reason: string) => ({
  MessageGroupId: 'wh-1',
  MessageAttributes: { Reason: { DataType: 'String', StringValue: reason } },
});

/** Offers two queues, and a program in place of `aws sqs` that calls them. */
async function withQueues(test: (queues: readonly [TestQueue, TestQueue], aws: string) => Promise<void>) {
  const { server, create, stop } = await startTestQueues();
  const sdk = JSON.stringify(require.resolve('@aws-sdk/client-sqs'));
  const aws = `
const { SQS } = require(${sdk});
const sqs = new SQS(${JSON.stringify({ ...localClient(server.url), region: 'eu-central-1' })});
const [all, seconds] = [{ AttributeNames: ['All'], MessageAttributeNames: ['All'] }, rest.indexOf('--visibility-timeout')];
const hidden = seconds >= 0 && { VisibilityTimeout: Number(rest[seconds + 1]) };
const calls = {
  'receive-message': () => sqs.receiveMessage({ QueueUrl: given('--queue-url'), ...all, ...hidden }),
  'send-message': () => sqs.sendMessage(JSON.parse(require('fs').readFileSync('message.json', 'utf8'))),
  'delete-message': () => sqs.deleteMessage({ QueueUrl: given('--queue-url'), ReceiptHandle: given('--receipt-handle') }),
};
calls[command]().then(({ $metadata, ...answer }) => Object.keys(answer).length > 0 && console.log(JSON.stringify(answer)));`;
  await test([await create(), await create()], aws).finally(stop);
}

it('the loop of a promotion moves each waiting message once, with its attributes', () =>
  withQueues(async ([old, current], aws) => {
    const bodies = ['{"a":"\'$x \\\\"}', 'two\nlines', 'plain'] as const;
    await old.send(bodies[0], because('gone'));
    for (const body of bodies.slice(1)) await old.send(body);
    await run(block('"$OLD"'), aws, { OLD: old.url, NEW: current.url });
    const moved = await current.receive();
    expect(moved.map(({ body }) => body).sort()).toEqual(bodies.toSorted());
    const first = moved.find(({ body }) => body === bodies[0]);
    expect(first?.messageAttributes).toMatchObject({ Reason: { stringValue: 'gone' } });
    expect([...(await old.receive()), ...(await current.receive())]).toEqual([]);
  }));

it('one command moves the dead letters with a reason to a file, and leaves the others', () =>
  withQueues(async ([queue], aws) => {
    const bodies = ['not JSON', '{"id":"ev-1"}', '{"a":"\'$x \\"}'];
    for (const body of bodies) await queue.send(body, because(`rule of ${body}`));
    await queue.send('crashes');
    await run(block('dead-letters.jsonl'), aws, { URL: queue.url });
    const lines = readFileSync(join(folder(), 'dead-letters.jsonl'), 'utf8').trim().split('\n');
    const saved = lines.map((line) => JSON.parse(line));
    expect(saved.map(({ Body, MessageAttributes: { Reason } }) => [Body, Reason.StringValue]).sort()).toEqual(
      bodies.map((body) => [body, `rule of ${body}`]).sort(),
    );
    expect(await queue.count()).toEqual({ visible: 0, hidden: 1, delayed: 0 });
  }));

it('the blocks for one organization copy its groups, and write all statements in one transaction or none', async () => {
  const { name, stackId, region } = running[0];
  const local = await localEnvironment();
  const stack = { name: stackId, region };
  const secret = 'DatabaseMasterSecret';
  const SECRET = arn(stack, 'secretsmanager', `secret:${secret}-${resourceHash(stack, secret).slice(0, 6)}`);
  const ARN = local.outputs(name).DatabaseClusterArn ?? '';
  const variables = { REGION: region, ARN, SECRET, COPY_ARN: ARN, COPY_SECRET: SECRET };
  const sdk = JSON.stringify(require.resolve('@aws-sdk/client-rds-data'));
  const aws = `
const { RDSData } = require(${sdk});
const data = new RDSData(${JSON.stringify({ ...localClient(local.endpoints['rds-data'] ?? ''), region })});
const transactionId = rest.includes('--transaction-id') ? given('--transaction-id') : undefined;
const input = { resourceArn: given('--resource-arn'), secretArn: given('--secret-arn') };
const calls = {
  'enable-http-endpoint': async () => ({}),
  'execute-statement': () => data.executeStatement({ ...input, database: given('--database'), sql: given('--sql'), transactionId }),
  'begin-transaction': () => data.beginTransaction({ ...input, database: given('--database') }),
  'commit-transaction': () => data.commitTransaction({ ...input, transactionId }),
};
calls[command]().then(({ $metadata, ...answer }) => console.log(rest.includes('text') ? answer[given('--query')] : JSON.stringify(answer)));`;
  const [define, write] = [block('--transaction-id $TRANSACTION} --output json'), block('begin-transaction')];
  const [, copy = ''] = /`(run \$COPY_ARN .*? > copy\.json)`/.exec(pages.join('\n')) ?? [];
  const { organizationId, userGroupId, ...others } = await local.walletJson<Organization>(name, 'seed');
  const sql = readSource('docs/copy-groups/copy.sql');
  const filled = sql.replaceAll('or-…', organizationId).replaceAll('{ug-…}', `{${userGroupId}}`);
  writeFileSync(join(folder(), 'copy.sql'), filled);
  // The second cluster, as it was before the deletion.
  await run(`${define}\n${copy}`, aws, variables);
  const deletion = async () => {
    const wire = await walletDeletion(local, name, { organizationId, userGroupId, ...others });
    return (await send(local.outputs(name).ApiBaseUrl ?? '', wire)).status;
  };
  expect([await deletion(), await deletion()]).toEqual([200, 404]);
  const file = join(folder(), 'copy.json');
  const texts = JSON.parse(readFileSync(file, 'utf8'));
  expect(texts.length).toBeGreaterThan(1);
  // A failing statement leaves nothing, also of those before it.
  writeFileSync(file, JSON.stringify([...texts, 'select 1 / 0']));
  await run(`${define}\n${write}`, aws, variables);
  expect(await deletion()).toBe(404);
  writeFileSync(file, JSON.stringify(texts));
  await run(`${define}\n${write}`, aws, variables);
  expect(await deletion()).toBe(200);
});
