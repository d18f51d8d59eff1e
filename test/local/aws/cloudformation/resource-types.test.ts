import { join } from 'node:path';
import { createCustomResource } from '../../../../local/aws/cloudformation/custom-resources';
import { createResource } from '../../../../local/aws/cloudformation/resource-types';
import { failed, type InvocationResult } from '../../../../local/aws/lambda/instance';
import { temporaryFolder } from '../../../support/temporary-folder';

const temporary = temporaryFolder();
const stack = { name: 'WalletEu', region: 'eu-central-1', assets: new Map() };

it.each([
  ['AWS::DynamoDB::Table', {}, 'WalletEu, X: AWS::DynamoDB::Table is not supported on this machine.'],
  ['AWS::SQS::Queue', { FifoQueue: true }, 'WalletEu, X: FifoQueue of AWS::SQS::Queue is not supported'],
  ['AWS::Lambda::Function', { Code: { ZipFile: 'x' } }, 'only functions with asset code are supported'],
])('refuses %s with %j, by name', async (type, properties, message) => {
  const made = createResource({ logicalId: 'X', type, properties }, { stack } as never);
  await expect(made).rejects.toThrow(message);
});

it('a custom resource fails with the reason of its handler, and is applied again by the next start', async () => {
  /** Applies it in a new start, with a handler that returns this. */
  async function apply(Arn: string, result: InvocationResult) {
    const invoke = jest.fn(async (_: object) => result);
    const framework = { role: '', variables: { USER_ON_EVENT_FUNCTION_ARN: 'handler' } };
    const needs = {
      stack,
      folder: { customResourcesFile: join(temporary(), 'custom-resources.json') },
      permissions: { requireRole: () => undefined },
      functions: { find: (arn: string) => (arn === 'handler' ? { arn, invoke } : framework) },
    };
    const properties = { ServiceToken: 'framework', Arn };
    const request = { logicalId: 'Keys', type: 'Custom::Keys', properties };
    const problem = await createCustomResource(request, needs as never).then(() => 'none', String);
    return { problem, events: invoke.mock.calls.flat() };
  }
  const broken = await apply('a', failed('Error', '0003-broken.sql: syntax error'));
  expect(broken.problem).toMatch(/: WalletEu: Create of Keys failed: 0003-broken.sql: syntax error$/);
  const created = await apply('a', { ok: true, payload: { PhysicalResourceId: 'keys' } });
  expect(created.events).toMatchObject([{ RequestType: 'Create' }]);
  const update = await apply('b', failed('Error', 'no'));
  expect(update.events).toMatchObject([{ RequestType: 'Update', PhysicalResourceId: 'keys' }]);
  expect(update.problem).toMatch(/: WalletEu: Update of Keys failed: no\n.*delete it with --fresh\.$/);
});
