import { setImmediate as turn } from 'node:timers/promises';
import type { Template } from '../../../../local/assembly/manifest';
import { deployStack } from '../../../../local/aws/cloudformation/deployment';

const deploy = (template: Template, make: Parameters<typeof deployStack>[1]) =>
  deployStack({ name: 'WalletEu', region: 'eu-central-1', template }, make);

it('skips resources and outputs whose condition is false', async () => {
  const { resources, outputs } = await deploy(
    {
      Conditions: { Never: { 'Fn::Equals': ['a', 'b'] } },
      Resources: { Here: { Type: 'A', DependsOn: 'Gone' }, Gone: { Type: 'A', Condition: 'Never' } },
      Outputs: { Here: { Value: { Ref: 'Here' } }, Gone: { Value: { Ref: 'Gone' }, Condition: 'Never' } },
    },
    async ({ logicalId }) => ({ ref: `${logicalId}-id`, attributes: {} }),
  );
  expect([[...resources.keys()], outputs]).toEqual([['Here'], { Here: 'Here-id' }]);
});

it('fails with the first error after running creations finish, and creates none that depend on it', async () => {
  const ended: string[] = [];
  const Resources = { Bad: { Type: 'A' }, After: { Type: 'A', DependsOn: 'Bad' }, Slow: { Type: 'A' } };
  const deployment = deploy({ Resources }, async ({ logicalId }) => {
    if (logicalId === 'Bad') throw new Error('no');
    await turn();
    ended.push(logicalId);
    return { ref: logicalId, attributes: {} };
  });
  await expect(deployment).rejects.toThrow('no');
  expect(ended).toEqual(['Slow']);
});
