// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Fn::Sub is written.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Template } from '../../../local/assembly/manifest';
import { deployStack, type Provision, type ResourceRequest } from '../../../local/resources/deployment';

const made: string[] = [];
beforeEach(() => made.splice(0));

const byName: Provision = async ({ logicalId }) => {
  await sleep(1);
  made.push(logicalId);
  return { ref: `${logicalId}-id`, attributes: { Arn: `${logicalId}-arn` } };
};

const deploy = (template: Template, provision: Provision = byName) =>
  deployStack({
    stack: { name: 'WalletEu', region: 'eu-central-1', template },
    provision,
    secret: () => undefined,
  });

it('makes a resource after those that it refers to or depends on', async () => {
  await deploy({
    Resources: {
      Last: { Type: 'A', Properties: { Url: { 'Fn::Sub': 'http://${Middle.Arn}' } } },
      Middle: { Type: 'A', Properties: { Deep: [{ In: { Ref: 'First' } }] }, DependsOn: 'Also' },
      Also: { Type: 'A', DependsOn: ['First'] },
      First: { Type: 'A' },
    },
  });
  expect(made).toEqual(['First', 'Also', 'Middle', 'Last']);
});

it('makes resources that need nothing of each other at the same time', async () => {
  let atOnce = 0;
  let most = 0;
  const slow: Provision = async ({ logicalId }) => {
    most = Math.max(most, ++atOnce);
    await sleep(5);
    atOnce -= 1;
    return { ref: logicalId, attributes: {} };
  };
  await deploy({ Resources: { A: { Type: 'A' }, B: { Type: 'A' }, C: { Type: 'A' } } }, slow);
  expect(most).toBe(3);
});

it('leaves out what a condition excludes, and outputs with it', async () => {
  const { resources, outputs } = await deploy({
    Conditions: { Never: { 'Fn::Equals': ['a', 'b'] } },
    Resources: { Here: { Type: 'A', DependsOn: 'Gone' }, Gone: { Type: 'A', Condition: 'Never' } },
    Outputs: { Here: { Value: { Ref: 'Here' } }, Gone: { Value: { Ref: 'Gone' }, Condition: 'Never' } },
  });
  expect([...resources.keys()]).toEqual(['Here']);
  expect(outputs()).toEqual({ Here: 'Here-id' });
});

it('resolves the properties that are read, and no others', async () => {
  const seen: unknown[] = [];
  const take = async ({ properties }: ResourceRequest) => {
    const { Name, Absent } = properties;
    seen.push({ Name, Absent });
    return { ref: '', attributes: {} };
  };
  const Properties = { Name: { Ref: 'AWS::Region' }, Network: { 'Fn::GetAtt': ['Nowhere', 'Id'] } };
  await deploy({ Resources: { A: { Type: 'A', Properties } } }, take);
  expect(seen).toEqual([{ Name: 'eu-central-1' }]);
});

it('says which property of which resource has no value here', async () => {
  const all = async ({ properties }: ResourceRequest) => {
    void { ...properties };
    return { ref: '', attributes: {} };
  };
  const template = {
    Resources: { A: { Type: 'A', Properties: { List: [{ 'Fn::GetAtt': ['B', 'Id'] }] } }, B: { Type: 'A' } },
  };
  await expect(deploy(template, all)).rejects.toThrow(
    'WalletEu, Resources.A.Properties.List[0]: the resource B has no attribute Id here',
  );
});

it('fails with the first error, when nothing is being made any more', async () => {
  let ended = false;
  const provision: Provision = async ({ logicalId }) => {
    if (logicalId === 'Bad') throw new Error('no');
    await sleep(20);
    ended = true;
    return { ref: logicalId, attributes: {} };
  };
  const failure = deploy(
    { Resources: { Bad: { Type: 'A' }, After: { Type: 'A', DependsOn: 'Bad' }, Slow: { Type: 'A' } } },
    provision,
  );
  await expect(failure).rejects.toThrow('no');
  expect(ended).toBe(true);
});
