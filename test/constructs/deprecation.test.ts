import { Annotations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { Environment } from '../../lib/environment/environment';
import { environments } from '../../lib/environments';
import { RegionStack } from '../../lib/stacks/region-stack';
import { environmentLike, type StackTemplate, synthesizeStacks, withApp } from '../support/stacks';

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

const staging = synthesizeStacks([environmentLike('staging')]).staging as StackTemplate;
const id = 'wallet-infrastructure:deprecated-environment';

describe('synthesis', () => {
  it('warns of a deprecated environment', () => {
    const sunset = { since: '2026-11-20', sunset: '2027-06-30' };
    expect(warningsFor(environmentLike('staging', { deprecation: sunset }))).toEqual([
      'staging is for those who still use it. Deprecated since 2026-11-20. Switched off on 2027-06-30. ' +
        `Test funds only. [ack: ${id}]`,
    ]);
  });

  it('does not warn of others, nor when the warning is acknowledged', () => {
    expect(warningsFor(environmentLike('eu'))).toEqual([]);
    expect(warningsFor(environmentLike('staging'), [id])).toEqual([]);
  });

  it('warns in the app, of the deprecated environments alone', () => {
    const warned = withApp(({ node }) => node.children.filter((stack) => warningsOf(stack).length > 0), {});
    expect(warned.map(({ node }) => node.id)).toEqual(
      environments.filter(({ deprecation }) => deprecation).map(({ stackId }) => stackId),
    );
  });
});

it('is in the headers that the function answers with', () => {
  const { Variables } = staging.named('AWS::Lambda::Function', 'DeleteUserGroup').Properties.Environment;
  expect(JSON.stringify(Variables.RESPONSE_HEADERS)).toContain(String.raw`{\"Deprecation\":\"@1795132800\",`);
});
