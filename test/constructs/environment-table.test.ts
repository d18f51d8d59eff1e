import { validateEnvironments } from '../../lib/environment/rules';
import { developerEnvironment, environmentNamed, environments } from '../../lib/environments';
import { stackOf, withApp } from '../support/stacks';

describe("a developer's copy", () => {
  const row = developerEnvironment('ada');

  it('shares nothing with the other rows, and the command line knows its name', () => {
    expect(() => validateEnvironments([...environments.slice(1), row])).not.toThrow();
    expect(environmentNamed('dev-ada')).toEqual(row);
    expect(environmentNamed('dev-Ada')).toBeUndefined();
    expect(() => developerEnvironment('Ada')).toThrow(/^developer is "Ada"\. Use 1 to 16/);
  });

  it('retains nothing, and neither makes nor changes a setting of the whole account', () => {
    const { resources, text } = stackOf(row);
    const retained = resources.filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete');
    expect(retained).toEqual([]);
    expect(text).not.toMatch(/AWS::ApiGateway::Account|AccessLogSetting/);
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
