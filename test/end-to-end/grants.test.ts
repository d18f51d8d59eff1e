import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { localClient } from '../support/aws-client';
import { eventually } from '../support/eventually';
import { startHttpServer } from '../support/http-server';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import { sharedInRun } from '../support/once-per-run';
import type { Organization } from '../support/organization';
import type { AccessReport } from '../support/own-environments';
import { running, withDirectAccess } from '../support/rows';
import { stackOf } from '../support/stacks';

/** Policies for AWS services and the CDK's own function, which run only on AWS. */
const unused =
  /^(AirGappedBackupsRole|NetworkVpcAllIAMRole|CustomVpcRestrictDefaultSG|OperationsKey|.*AllowEventRule)/;

let local: LocalEnvironment;
let access: string;
beforeAll(async () => {
  local = await localEnvironment();
  ({ access } = await sharedInRun<{ access: string }>('environments'));
});

/** One request by a function's role is refused. */
const refuseOnce = (principal: string, action: string, resource: string) =>
  fetch(`${access}refuse?${new URLSearchParams({ principal, action, resource })}`);

const logged = (name: string, text: RegExp) => {
  const logs = join(local.stateDirectory, 'logs', name);
  const read = (file: string) => readFileSync(join(logs, file), 'utf8');
  return eventually(() => readdirSync(logs).some((file) => text.test(read(file))));
};

/** A webhook whose receiver responds 410, which its organization gets an event about. */
async function disableByReceiver(name: string): Promise<void> {
  const receiver = await startHttpServer((_, response) => response.writeHead(410).end());
  const { organizationId } = await local.walletJson<Organization>(name, 'seed');
  const organization = ['--organization', organizationId];
  await local.walletJson(name, 'webhook', 'add', ...organization, '--url', receiver.url);
  await local.walletJson(name, 'send-event', ...organization, '--kind', 'a');
  await logged(name, /WEBHOOK_DISABLED/);
  await receiver.stop();
}

it.each(running)('all features of $name work with every grant enforced', async (row) => {
  const { name, stackId, serviceLevelAgreement } = row;
  const outputs = local.outputs(name);
  await local.wallet(name, 'smoke');
  await expect(local.wallet(name, 'origin-status')).rejects.toThrow('for deployed environments');
  for (const method of ['GET', 'HEAD']) {
    const response = await fetch(outputs.DashboardUrl ?? '', { method });
    expect([response.status, (await response.text()).length > 0]).toEqual([200, method === 'GET']);
  }
  await disableByReceiver(name);

  const sqs = new SQSClient(localClient(local.endpoints.sqs ?? ''));
  const lambda = new LambdaClient(localClient(local.endpoints.lambda ?? ''));
  // What smoke and other tests leave: unreadable, delayed and failing messages, a purge, a rolled back migration.
  const send = (queue: string, MessageBody: string) =>
    sqs.send(new SendMessageCommand({ QueueUrl: outputs[queue] ?? '', MessageBody }));
  const invoke = (prefix: string, event: object = {}) => {
    const { logicalId } = stackOf(row).named('AWS::Lambda::Function', prefix);
    const input = { FunctionName: `${stackId}-${logicalId}`, Payload: JSON.stringify(event) };
    return lambda.send(new InvokeCommand(input));
  };
  const delivery = {
    deliveryId: 'msg_0123456789abcdef0123456789abcdef',
    webhookId: 'wh-aaaaa-bbbbb-cccccccccccccc',
    eventId: 'evt_1',
    acceptedAt: Date.now(),
    notBefore: Date.now() + 3_600_000,
    body: '{}',
  };
  await send('WebhookDeliveryQueueUrl', JSON.stringify(delivery));
  const roles = { WebhookDeliveryQueueUrl: 'WebhooksDeliver', WebhookEventsQueueUrl: 'WebhooksFanOut' };
  for (const [queue, role] of Object.entries(roles)) {
    await refuseOnce(`${stackId}-${role}`, 'sqs:sendmessage', 'DeadLetter');
    await send(queue, 'unreadable');
  }
  await invoke('WebhooksPurgeExpired');
  if (serviceLevelAgreement) {
    await invoke('ProbeProbeWebhooks');
    await logged(name, /"Verified":1/);
  }
  if (row !== withDirectAccess) {
    await refuseOnce(`${stackId}-SchemaMigration`, 'rds-data:committransaction', '');
    await invoke('SchemaMigrationMigrateSchema', { RequestType: 'Update' });
  }
});

it('something fails without each grant of the templates', () =>
  // What was refused is tried again.
  eventually(async () => {
    const { refused, grants } = (await (await fetch(`${access}report`)).json()) as AccessReport;
    expect(refused).toEqual([]);
    // Signing in needs no permission locally; test/constructs/policies.test.ts holds it.
    const used = grants.filter(({ where, action }) => !unused.test(where) && action !== 'rds-db:connect');
    expect(used.length).toBeGreaterThan(100);
    const idle = used.filter(({ isNeeded }) => !isNeeded);
    expect(idle.map(({ where, action }) => `${where} ${action}`)).toEqual([]);
  }));
