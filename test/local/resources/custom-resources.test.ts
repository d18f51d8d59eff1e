import { join } from 'node:path';
import { failed } from '../../../local/lambda/instance';
import { openCustomResources } from '../../../local/resources/custom-resources';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();

/** Applies one resource in a new run, and gives the events that its handler got. */
async function run(
  properties: Record<string, unknown>,
  answer: object | Error = { PhysicalResourceId: 'keys' },
) {
  const events: Record<string, unknown>[] = [];
  const apply = openCustomResources(join(folder(), 'state.json'), 'WalletEu', 'stack-id');
  const applied = apply({
    logicalId: 'Keys',
    type: 'Custom::Keys',
    properties,
    async invoke(event) {
      events.push(event as Record<string, unknown>);
      return answer instanceof Error ? failed('Error', answer.message) : { ok: true, payload: answer };
    },
  });
  const resource = await applied.catch((error: Error) => error);
  return { events, types: events.map((event) => event.RequestType), resource };
}

it('creates a resource on the first run, and gives its data', async () => {
  const { events, resource } = await run({ Arn: 'a' }, { PhysicalResourceId: 'keys', Data: { Jwks: '{}' } });
  expect(events).toEqual([
    {
      RequestType: 'Create',
      LogicalResourceId: 'Keys',
      ResourceType: 'Custom::Keys',
      ResourceProperties: { Arn: 'a' },
      RequestId: expect.any(String),
      StackId: 'stack-id',
    },
  ]);
  expect(resource).toEqual({ physicalId: 'keys', data: { Jwks: '{}' } });
});

it('leaves a resource alone whose properties have not changed, and remembers its data', async () => {
  await run({ Arn: 'a', List: ['x'] }, { PhysicalResourceId: 'keys', Data: { Jwks: '{}' } });
  const { events, resource } = await run({ List: ['x'], Arn: 'a' });
  expect(events).toEqual([]);
  expect(resource).toMatchObject({ physicalId: 'keys', data: { Jwks: '{}' } });
});

it('updates a resource whose properties have changed, with the old ones beside', async () => {
  await run({ Arn: 'a' });
  const { events } = await run({ Arn: 'b' });
  expect(events).toMatchObject([
    {
      RequestType: 'Update',
      PhysicalResourceId: 'keys',
      ResourceProperties: { Arn: 'b' },
      OldResourceProperties: { Arn: 'a' },
    },
  ]);
});

it('deletes what an update has replaced', async () => {
  await run({ Arn: 'a' });
  const { events } = await run({ Arn: 'b' }, { PhysicalResourceId: 'other keys' });
  expect(events).toMatchObject([
    { RequestType: 'Update' },
    { RequestType: 'Delete', PhysicalResourceId: 'keys', ResourceProperties: { Arn: 'a' } },
  ]);
});

it('fails with the reason of the handler, and tries again on the next run', async () => {
  const { resource } = await run({ Arn: 'a' }, new Error('0003-broken.sql: syntax error'));
  expect(resource).toMatchObject({
    message: 'WalletEu: Create of Keys failed: 0003-broken.sql: syntax error',
  });
  expect((await run({ Arn: 'a' })).types).toEqual(['Create']);
});

it('keeps the last good state when an update fails', async () => {
  await run({ Arn: 'a' });
  await run({ Arn: 'b' }, new Error('no'));
  expect((await run({ Arn: 'a' })).types).toEqual([]);
});

it('keeps its physical id when the handler names none', async () => {
  await run({ Arn: 'a' });
  const { types, resource } = await run({ Arn: 'b' }, {});
  expect(types).toEqual(['Update']);
  expect(resource).toMatchObject({ physicalId: 'keys' });
});
