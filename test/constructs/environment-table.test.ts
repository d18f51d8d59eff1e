import { validateEnvironments } from '../../lib/environment';
import { developerEnvironment, environmentNamed, environments } from '../../lib/environments';
import { stackOf, withApp } from '../support/stacks';

/** External contracts, while the table has these rows. */
const promised = [
  { name: 'eu', stackId: 'WalletEu', residencyRegions: ['eu-central-1', 'eu-west-1'] },
  { name: 'uae', stackId: 'WalletUae', residencyRegions: ['me-central-1'] },
  { name: 'staging', stackId: 'WalletStaging', residencyRegions: ['eu-west-3'] },
];

it.each(promised.filter(({ name }) => environments.some((row) => row.name === name)))(
  '$name keeps its stack and its regions',
  (promise) => {
    expect(environments.find(({ name }) => name === promise.name)).toMatchObject(promise);
  },
);

describe("a developer's copy", () => {
  const row = developerEnvironment('ada');

  it('shares nothing with the other rows, and the command line knows its name', () => {
    expect(() => validateEnvironments([...environments.slice(1), row])).not.toThrow();
    expect(environmentNamed('dev-ada')).toEqual(row);
    expect(environmentNamed('dev-Ada')).toBeUndefined();
    expect(() => developerEnvironment('Ada')).toThrow(/^developer is "Ada"\. Use 1 to 16/);
  });

  it('retains only its address', () => {
    const { resources } = stackOf(row);
    const retained = resources.filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete');
    expect(retained.map(({ Type }) => Type)).toEqual(['AWS::EC2::EIP']);
    for (const { Properties } of resources.filter(({ Type }) => Type === 'AWS::KMS::Key'))
      expect(Properties.PendingWindowInDays).toBe(7);
  });

  const { CDK_CONTEXT_JSON: context } = process.env;
  afterEach(() => {
    process.env.CDK_CONTEXT_JSON = context;
  });

  it("is the app's only environment with -c developer=NAME", () => {
    process.env.CDK_CONTEXT_JSON = JSON.stringify({ ...JSON.parse(context ?? '{}'), developer: 'ada' });
    withApp(({ node }) => expect(node.children.map(({ node: { id } }) => id)).toEqual([row.stackId]), {
      validateTemplates: false,
    });
  });
});
