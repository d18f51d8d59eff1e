import { setImmediate as turn } from 'node:timers/promises';
import type { Template } from '../../../local/assembly/manifest';
import { deployStack } from '../../../local/resources/deployment';

const deploy = (template: Template, make: Parameters<typeof deployStack>[1]) =>
  deployStack({ name: 'WalletEu', region: 'eu-central-1', template }, make);

it('creates a resource after its dependencies, and independent ones concurrently', async () => {
  const order: string[] = [];
  await deploy(
    {
      Resources: {
        Last: { Type: 'A', Properties: { Url: { 'Fn::GetAtt': ['Middle', 'Arn'] } } },
        Middle: { Type: 'A', Properties: { Deep: [{ In: { Ref: 'First' } }] }, DependsOn: ['Also'] },
        Also: { Type: 'A', DependsOn: 'First' },
        First: { Type: 'A' },
        Other: { Type: 'A' },
      },
    },
    async ({ logicalId }) => {
      order.push(`start ${logicalId}`);
      await turn();
      order.push(`end ${logicalId}`);
      return { ref: logicalId, attributes: {} };
    },
  );
  expect(order.slice(0, 2).sort()).toEqual(['start First', 'start Other']);
  const ends = order.filter((each) => each.startsWith('end') && each !== 'end Other');
  expect(ends).toEqual(['end First', 'end Also', 'end Middle', 'end Last']);
});

it('skips resources and outputs whose condition is false', async () => {
  const { resources, outputs } = await deploy(
    {
      Conditions: { Never: { 'Fn::Equals': ['a', 'b'] } },
      Resources: { Here: { Type: 'A', DependsOn: 'Gone' }, Gone: { Type: 'A', Condition: 'Never' } },
      Outputs: { Here: { Value: { Ref: 'Here' } }, Gone: { Value: { Ref: 'Gone' }, Condition: 'Never' } },
    },
    async ({ logicalId }) => ({ ref: `${logicalId}-id`, attributes: {} }),
  );
  expect([...resources.keys()]).toEqual(['Here']);
  expect(outputs).toEqual({ Here: 'Here-id' });
});

it('resolves only the properties that are read, and names one that has no local value', async () => {
  const regions: unknown[] = [];
  const Properties = { Name: { Ref: 'AWS::Region' }, Ids: [{ 'Fn::GetAtt': ['B', 'Id'] }] };
  const deployment = deploy(
    { Resources: { A: { Type: 'A', Properties }, B: { Type: 'B' } } },
    async ({ type, properties }) => {
      if (type === 'A') regions.push(properties.Name);
      return { ref: '', attributes: { unread: type === 'A' && properties.Ids } };
    },
  );
  await expect(deployment).rejects.toThrow(
    'WalletEu, Resources.A.Properties.Ids[0]: the resource B has no local attribute Id',
  );
  expect(regions).toEqual(['eu-central-1']);
});

it('fails with the first error after running creations finish', async () => {
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
