import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { projectRoot } from '../architecture/sources';
import { localClient } from '../support/aws-client';
import { eventually } from '../support/eventually';
import { startNodeIn } from '../support/local-command';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const pages = ['emergencies', 'alarms'].map((name) =>
  readFileSync(join(projectRoot, `docs/runbook/${name}.md`), 'utf8'),
);
/** A block of commands, by a text in it. */
const block = (text: string) =>
  pages
    .join('\n')
    .split('```sh\n')
    .map((each) => each.split('```')[0] ?? '')
    .find((each) => each.includes(text)) ?? '';

/** Runs commands of the runbook in Bash, with jq, and with this program in place of the AWS command line. */
async function run(commands: string, aws: string, variables: Readonly<Record<string, string>> = {}) {
  const program = `#!${process.execPath}\nconst [, , service, command, ...rest] = process.argv;\nconst given = (name) => rest[rest.indexOf(name) + 1];\n${aws}`;
  writeFileSync(join(folder(), 'aws'), program, { mode: 0o755 });
  const env = { ...process.env, ...variables, PATH: `${folder()}:${process.env.PATH}` };
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder(), env });
}

/** SQS on this machine, with two queues, whose addresses it prints. */
const emulator = `
require('./local/aws/sqs/queues').startQueues().then(({ url, createQueue }) => {
  const create = (name) => createQueue({ name, region: 'eu-central-1', attributes: {} }).url;
  console.log(JSON.stringify([url, create('old'), create('new')]));
});`;

/** Offers the queues, and a program in place of `aws sqs` that calls them. */
async function withQueues(
  test: (sqs: SQSClient, queues: readonly [string, string], aws: string) => Promise<void>,
) {
  const queues = startNodeIn(projectRoot, ['--require', 'tsx/cjs', '-e', emulator]);
  await eventually(() => queues.said.stdout.endsWith('\n'), 30);
  const [url, old, current] = JSON.parse(queues.said.stdout) as [string, string, string];
  const sqs = new SQSClient(localClient(url));
  const sdk = JSON.stringify(require.resolve('@aws-sdk/client-sqs'));
  const aws = `
const { SQS } = require(${sdk});
const sqs = new SQS(${JSON.stringify({ ...localClient(url), region: 'eu-central-1' })});
const [all, seconds] = [{ AttributeNames: ['All'], MessageAttributeNames: ['All'] }, rest.indexOf('--visibility-timeout')];
const hidden = seconds >= 0 && { VisibilityTimeout: Number(rest[seconds + 1]) };
const calls = {
  'receive-message': () => sqs.receiveMessage({ QueueUrl: given('--queue-url'), ...all, ...hidden }),
  'send-message': () => sqs.sendMessage(JSON.parse(require('fs').readFileSync('message.json', 'utf8'))),
  'delete-message': () => sqs.deleteMessage({ QueueUrl: given('--queue-url'), ReceiptHandle: given('--receipt-handle') }),
};
calls[command]().then(({ $metadata, ...answer }) => Object.keys(answer).length > 0 && console.log(JSON.stringify(answer)));`;
  await test(sqs, [old, current], aws).finally(() => {
    sqs.destroy();
    queues.process.kill();
  });
  await queues.ended();
}

it('the loop of a promotion moves each waiting message once, with its attributes', () =>
  withQueues(async (sqs, [old, current], aws) => {
    const bodies = ['{"a":"\'$x \\\\"}', 'two\nlines', 'plain'];
    for (const [index, MessageBody] of bodies.entries())
      await sqs.send(
        new SendMessageCommand({
          ...{ QueueUrl: old, MessageBody },
          ...(index < 2 && { MessageGroupId: `wh-${index}` }),
          ...(index === 0 && { MessageAttributes: { reason: { DataType: 'String', StringValue: 'gone' } } }),
        }),
      );
    await run(block('"$OLD"'), aws, { OLD: old, NEW: current });
    const receive = async (QueueUrl: string) => {
      const options = { MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, ...options }));
      return Messages;
    };
    const moved = await receive(current);
    expect(moved.map(({ Body }) => Body).sort()).toEqual(bodies.toSorted());
    const first = moved.find(({ Body }) => Body === bodies[0]);
    expect(first?.MessageAttributes).toMatchObject({ reason: { StringValue: 'gone' } });
    expect([...(await receive(old)), ...(await receive(current))]).toEqual([]);
  }));

it('one command moves the dead letters with a reason to a file, and leaves the others', () =>
  withQueues(async (sqs, [QueueUrl], aws) => {
    const bodies = ['not JSON', '{"id":"ev-1"}', '{"a":"\'$x \\"}', 'crashes'];
    for (const [index, MessageBody] of bodies.entries()) {
      const MessageAttributes = { Reason: { DataType: 'String', StringValue: `rule ${index}` } };
      await sqs.send(
        new SendMessageCommand({ QueueUrl, MessageBody, ...(index !== 3 && { MessageAttributes }) }),
      );
    }
    await run(block('dead-letters.jsonl'), aws, { URL: QueueUrl });
    const lines = readFileSync(join(folder(), 'dead-letters.jsonl'), 'utf8').trim().split('\n');
    const saved = lines.map((line) => JSON.parse(line));
    expect(saved.map(({ Body, MessageAttributes: { Reason } }) => [Body, Reason.StringValue]).sort()).toEqual(
      [0, 1, 2].map((index) => [bodies[index], `rule ${index}`]).sort(),
    );
    const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] }),
    );
    expect(AttributeNames.map((name) => Attributes?.[name])).toEqual(['0', '1']);
  }));
