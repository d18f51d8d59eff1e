import { rmSync } from 'node:fs';
import { Annotations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { deprecationHeaders } from '../../lib/api/deprecation-headers';
import { createApp } from '../../lib/app';
import type { Environment } from '../../lib/environment/environment';
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

  it('warns in the app, of staging alone', () => {
    const app = createApp();
    rmSync(app.outdir, { recursive: true });
    const warned = app.node.children.filter((stack) => warningsOf(stack).length > 0);
    expect(warned.map(({ node }) => node.id)).toEqual(['WalletStaging']);
  });
});

describe('the headers', () => {
  it('are those of RFC 9745 and RFC 8594', () => {
    expect(deprecationHeaders({ since: '2026-11-20', sunset: '2027-06-30' })).toEqual({
      Deprecation: '@1795132800',
      Sunset: 'Wed, 30 Jun 2027 00:00:00 GMT',
    });
    expect(deprecationHeaders({ since: '2026-11-20' })).toEqual({ Deprecation: '@1795132800' });
    expect(deprecationHeaders(undefined)).toEqual({});
  });

  it('are given to the function, which answers with them', () => {
    const { Variables } = staging.named('AWS::Lambda::Function', 'DeleteUserGroup').Properties.Environment;
    expect(JSON.stringify(Variables.RESPONSE_HEADERS)).toContain(
      String.raw`{\"Deprecation\":\"@1795132800\",`,
    );
  });
});

describe('staging', () => {
  it('costs little, promises nothing, and keeps its address like the others', () => {
    expect(staging.only('AWS::RDS::DBCluster').Properties.ServerlessV2ScalingConfiguration).toMatchObject({
      MinCapacity: 0,
    });
    expect(staging.all('AWS::RDS::DBInstance')).toHaveLength(1);
    expect(staging.only('AWS::EC2::EIP')).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
    });
    expect(staging.json.Outputs.ServiceLevelAgreement.Value).toBe('no');
  });
});
