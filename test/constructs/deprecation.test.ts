import { Annotations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { Environment } from '../../lib/environment';
import { environments } from '../../lib/environments';
import { RegionStack } from '../../lib/stacks/region-stack';
import { first, newcomer } from '../support/rows';
import { stackOf, withApp } from '../support/stacks';

const warningsOf = ({ node }: IConstruct): string[] =>
  node.metadata.filter(({ type }) => type === 'aws:cdk:warning').map(({ data }) => String(data));

function warningsFor(environment: Environment, acknowledged: readonly string[] = []): string[] {
  return withApp((app) => {
    const stack = new RegionStack(app, { environment });
    for (const id of acknowledged) Annotations.of(stack).acknowledgeWarning(id);
    stack.warnOfDeprecation();
    return warningsOf(stack);
  });
}

const deprecated: Environment = {
  ...first,
  name: 'old',
  testFundsOnly: true,
  deprecation: { since: '2026-11-20' },
};
const id = 'wallet-infrastructure:deprecated-environment';

describe('synthesis', () => {
  it('warns of a deprecated environment', () => {
    const deprecation = { since: '2026-11-20', sunset: '2027-06-30' };
    expect(warningsFor({ ...deprecated, deprecation })).toEqual([
      'old is for those who still use it. Deprecated since 2026-11-20. Switched off on 2027-06-30. ' +
        `Test funds only. [ack: ${id}]`,
    ]);
  });

  it('does not warn of others, nor when the warning is acknowledged', () => {
    expect(warningsFor(newcomer)).toEqual([]);
    expect(warningsFor(deprecated, [id])).toEqual([]);
  });

  it('warns in the app, of the deprecated environments alone', () => {
    const warned = withApp(({ node }) => node.children.filter((stack) => warningsOf(stack).length > 0), {});
    expect(warned.map(({ node }) => node.id)).toEqual(
      environments.filter(({ deprecation }) => deprecation).map(({ stackId }) => stackId),
    );
  });
});

it('is in the headers that the function answers with', () => {
  const lambda = stackOf(deprecated).named('AWS::Lambda::Function', 'DeleteUserGroup');
  const { Variables } = lambda.Properties.Environment;
  expect(JSON.stringify(Variables.RESPONSE_HEADERS)).toContain(String.raw`{\"Deprecation\":\"@1795132800\"}`);
});
