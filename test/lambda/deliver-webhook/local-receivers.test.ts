import { newId } from '../../../domain/ids';
import { localReceiversVariable } from '../../../domain/receiver-url';
import { databaseVariables } from '../../../lambda/database/variables';
import { createDependencies as deliverWebhook } from '../../../lambda/deliver-webhook/handler';
import { variables as deliverVariables } from '../../../lambda/deliver-webhook/variables';
import { createHandler, createDependencies as runOperation } from '../../../lambda/run-operation/handler';
import { variables as runVariables } from '../../../lambda/run-operation/variables';

// Nothing listens there. On AWS, http://127.0.0.1:9001 is the Lambda Runtime API.
const url = 'http://127.0.0.1:1/';
const names = [...databaseVariables['data-api'], ...deliverVariables, ...runVariables];
const variables = Object.fromEntries(names.map((name) => [name, 'https://service.example/made-up']));
afterEach(() => jest.restoreAllMocks());

it.each([
  ['', 'scheme_not_https'],
  ['true', 'scheme_not_https'],
  ['allowed', 'connection_refused'],
])('with the variable %j, an attempt at a receiver on this machine ends with %s', async (value, reason) => {
  const settings = {
    AWS_REGION: 'eu-central-1',
    DATABASE_ACCESS: 'data-api',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  };
  jest.replaceProperty(process, 'env', { ...variables, ...settings, [localReceiversVariable]: value });
  const { receivers } = deliverWebhook().ports;
  expect(await receivers.post({ webhookId: 'wh-1', url, headers: {}, body: '' })).toMatchObject({ reason });
  if (value === 'allowed') return;
  const input = { organizationId: newId('or'), url };
  const answer = await createHandler(runOperation())({ operation: 'add-webhook', input });
  expect(answer).toMatchObject({ ok: false, error: { code: 'scheme_not_https' } });
});
