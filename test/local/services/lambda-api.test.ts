import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { LocalFunction } from '../../../local/lambda/function';
import type { LoopbackServer } from '../../../local/network/loopback-server';
import { startLambdaApi } from '../../../local/services/lambda-api';
import { localClient } from '../../support/aws-client';
import { localFunctions } from '../../support/local-function';

const { start } = localFunctions();
let local: LocalFunction;
let server: LoopbackServer;
let client: LambdaClient;

beforeEach(async () => {
  const body = `
    if (event.fail) throw new TypeError('wrong');
    if (event.wait) await new Promise((resolve) => setTimeout(resolve, event.wait));
    return { event };`;
  local = start(body, { name: 'operations' });
  server = await startLambdaApi((id) => (id === local.name || id === local.arn ? local : undefined));
  client = new LambdaClient(localClient(server.url));
});

afterEach(async () => {
  client.destroy();
  await server.close();
});

async function invoke(FunctionName: string, event: unknown, more: object = {}) {
  const { Payload, ...rest } = await client.send(
    new InvokeCommand({ FunctionName, Payload: JSON.stringify(event), ...more }),
  );
  return { ...rest, payload: JSON.parse(Payload?.transformToString() ?? '') };
}

test('a function is invoked by name, ARN and partial ARN, with or without a qualifier', async () => {
  for (const name of ['operations', local.arn, `${local.arn}:$LATEST`, '000000000000:function:operations']) {
    expect(await invoke(name, { a: 'ü' })).toMatchObject({
      StatusCode: 200,
      ExecutedVersion: '$LATEST',
      payload: { event: { a: 'ü' } },
    });
  }
});

test('what the function throws is a payload with its type, and FunctionError says so', async () => {
  expect(await invoke('operations', { fail: true })).toMatchObject({
    StatusCode: 200,
    FunctionError: 'Unhandled',
    payload: { errorType: 'TypeError', errorMessage: 'wrong', trace: expect.any(Array) },
  });
});

test.each([
  ['an unknown function', 'absent', { Payload: '{}' }, 'ResourceNotFoundException'],
  ['a payload that is no JSON', 'operations', { Payload: '{' }, 'InvalidRequestContentException'],
  [
    'an invocation without an answer',
    'operations',
    { InvocationType: 'Event' },
    'InvalidParameterValueException',
  ],
  [
    'a payload of more than 6 MB',
    'operations',
    { Payload: `"${'x'.repeat(6_500_000)}"` },
    'RequestTooLargeException',
  ],
])('%s is refused by its documented name', async (_, name, more, error) => {
  await expect(invoke(name, {}, more)).rejects.toMatchObject({ name: error });
});

test.each([
  ['/', 404],
  ['/2015-03-31/functions/', 404],
  ['/2015-03-31/functions/%/invocations', 400],
  ['/2015-03-31/functions/%ff/invocations', 400],
  ['/2015-03-31/functions/constructor/invocations', 404],
])('the path %s is refused with %i', async (path, status) => {
  const response = await fetch(server.url + path, { method: 'POST', body: '{}' });
  expect([response.status, await response.json()]).toEqual([
    status,
    expect.objectContaining({ Type: 'User' }),
  ]);
  expect(await invoke('operations', {})).toMatchObject({ StatusCode: 200 });
});
