import { mkdirSync } from 'node:fs';
import { createResource, type StackContext } from '../../../../local/aws/cloudformation/resource-types';
import { createPermissions } from '../../../../local/aws/iam/permissions';
import type { StackFunction } from '../../../../local/aws/lambda/function';
import { failed } from '../../../../local/aws/lambda/instance';
import { stateFolder } from '../../../../local/state/paths';
import { temporaryFolder } from '../../../support/temporary-folder';

const temporary = temporaryFolder();
const Role = 'arn:aws:iam::000000000000:role/Role';

/** A stack on the same state as the others of a test. */
function open() {
  const functions: StackFunction[] = [];
  const folder = stateFolder(temporary()).environment('eu');
  mkdirSync(folder.directory, { recursive: true });
  const context = {
    permissions: createPermissions(() => undefined),
    folder,
    stack: {
      name: 'WalletEu',
      region: 'eu-central-1',
      assets: new Map([['code.zip', { path: '/nowhere' }]]),
    },
    functions: {
      add: (added: StackFunction) => functions.push(added),
      find: (sought: string) => functions.find(({ arn }) => arn === sought),
    },
    cleanup: { add: () => undefined },
  } as unknown as StackContext;
  const make = (logicalId: string, type: string, properties: object = {}) =>
    createResource({ logicalId, type, properties: { ...properties } }, context);
  return { context, make };
}

it.each([
  ['AWS::DynamoDB::Table', {}, 'WalletEu, X: AWS::DynamoDB::Table is not supported on this machine.'],
  ['AWS::SQS::Queue', { FifoQueue: true }, 'WalletEu, X: FifoQueue of AWS::SQS::Queue is not supported'],
  ['AWS::Lambda::Function', { Code: { ZipFile: 'x' } }, 'only functions with asset code are supported'],
])('refuses %s with %j, by name', async (type, properties, message) => {
  await expect(open().make('X', type, properties)).rejects.toThrow(message);
});

describe('a custom resource', () => {
  /** Applies it in a new start, with a handler that returns this. */
  async function apply(properties: object, returned: object | Error = { PhysicalResourceId: 'keys' }) {
    const { context, make } = open();
    const events: object[] = [];
    const code = { Code: { S3Key: 'code.zip' }, Handler: 'index.handler', Role };
    const { attributes } = await make('Handler', 'AWS::Lambda::Function', code);
    const Environment = { Variables: { USER_ON_EVENT_FUNCTION_ARN: attributes.Arn } };
    const framework = await make('Framework', 'AWS::Lambda::Function', { ...code, Environment });
    Object.assign(context.functions.find(attributes.Arn), {
      async invoke(event: object) {
        events.push(event);
        return returned instanceof Error
          ? failed('Error', returned.message)
          : { ok: true, payload: returned };
      },
    });
    const made = make('Keys', 'Custom::Keys', { ServiceToken: framework.attributes.Arn, ...properties });
    return { resource: await made.catch((error: Error) => error.message), events };
  }

  it('fails with the reason of its handler, and is applied again by the next start', async () => {
    const { resource } = await apply({ Arn: 'a' }, new Error('0003-broken.sql: syntax error'));
    expect(resource).toBe('WalletEu: Create of Keys failed: 0003-broken.sql: syntax error');
    expect((await apply({ Arn: 'a' })).events).toMatchObject([{ RequestType: 'Create' }]);
    const update = await apply({ Arn: 'b' }, new Error('no'));
    expect(update.resource).toMatch(/^WalletEu: Update of Keys failed: no\n.*delete it with --fresh\.$/);
  });
});
