import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Stack } from 'aws-cdk-lib';
import { newcomer, withStandby } from '../support/rows';
import {
  type StackTemplate,
  synthesizeStacks,
  temporaryFiles,
  withApp,
  withTemporaryFolder,
} from '../support/stacks';

const stacks = synthesizeStacks();
const each = Object.entries(stacks);

/** What receivers, operators and CI rely on: names never change, and none is taken away. */
const outputs = [
  'ApiBaseUrl',
  'DashboardUrl',
  'WebhookOriginAddress',
  'WebhookEventsQueueUrl',
  'WebhookEventsDeadLetterQueueUrl',
  'WebhookDeliveryQueueUrl',
  'WebhookDeliveryDeadLetterQueueUrl',
  'WebhookSecretsKeyArn',
  'TokenSigningKeyArn',
  'UserActionSigningKeyArn',
  'DatabaseClusterArn',
  'OperationsFunctionName',
  'ServiceLevelAgreement',
  'Deprecated',
];

/** Types that have no tags, or too new ones: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/ */
const untaggable = new RegExp(
  `^(Custom::.*|AWS::(${[
    'ApiGateway::(Account|Authorizer|Deployment|GatewayResponse|Method|Resource)',
    'CloudWatch::Dashboard',
    'EC2::(Route|SecurityGroup(Egress|Ingress)|SubnetRouteTableAssociation|VPCGatewayAttachment)',
    'IAM::Policy',
    'Lambda::Permission',
    'Logs::MetricFilter',
    'SecretsManager::SecretTargetAttachment',
    'SNS::(Subscription|TopicPolicy)',
    'SQS::QueuePolicy',
    'WAFv2::(LoggingConfiguration|WebACLAssociation)',
  ].join('|')}))$`,
);

describe.each(each)('the stack of %s', (_, stack) => {
  const { environment } = stack;

  it('has the outputs that others rely on', () => {
    expect(Object.keys(stack.json.Outputs)).toEqual(expect.arrayContaining(outputs));
    for (const name of outputs) expect(stack.json.Outputs[name].Description).toEqual(expect.any(String));
  });

  it('says what it promises', () => {
    expect(stack.json.Outputs.ServiceLevelAgreement.Value).toBe(
      environment.serviceLevelAgreement ? 'yes' : 'no',
    );
    expect(stack.json.Outputs.Deprecated.Value).toBe(environment.deprecation ? 'true' : 'false');
    expect(stack.json.Description).toContain(environment.purpose);
  });

  it('says wherever people look that it is deprecated and for test funds only, if it is', () => {
    const { Outputs, Description } = stack.json;
    const texts = [
      Description,
      ...Object.values<{ Description: string }>(Outputs).map((output) => output.Description),
    ];
    for (const text of texts) {
      expect(/\bDeprecated since \d{4}-\d\d-\d\d\./.test(text)).toBe(environment.deprecation !== undefined);
      expect(text.includes('Test funds only.')).toBe(environment.testFundsOnly);
      expect(text).toMatch(/\w\.$/);
    }
  });

  it('keeps addresses, keys and queues when it is deleted, and those of a failed first deployment only with its cluster', () => {
    const kept = stack.resources.filter(({ Type }) => /::(EIP|Key|Queue)$/.test(Type));
    expect(kept).toHaveLength(environment.webhookOrigin?.reserve ? 12 : 11);
    for (const resource of kept) {
      const withCluster = environment.database.deletionProtection && resource.logicalId === 'DatabaseKey';
      const DeletionPolicy = withCluster ? 'Retain' : 'RetainExceptOnCreate';
      expect(resource).toMatchObject({ DeletionPolicy, UpdateReplacePolicy: 'Retain' });
    }
  });

  it('is protected from deletion where there is a service level agreement', () => {
    expect(stack.manifest.properties.terminationProtection ?? false).toBe(environment.serviceLevelAgreement);
  });

  it('is tagged, and so is what it consists of', () => {
    const tags = {
      service: 'wallet-infrastructure',
      environment: environment.name,
      deprecated: String(environment.deprecation !== undefined),
      'test-funds-only': String(environment.testFundsOnly),
    };
    expect(stack.manifest.properties.tags).toMatchObject(tags);
    for (const { logicalId, Type, Properties } of stack.resources.filter(
      ({ Type }) => !untaggable.test(Type),
    )) {
      const own = (Properties.Tags ?? []).map(({ Key, Value }: Record<string, string>) => [Key, Value]);
      expect({ logicalId, Type, tags: Object.fromEntries(own) }).toMatchObject({ logicalId, Type, tags });
    }
  });

  it('encrypts its queues, refuses plain connections to them, and keeps messages for 14 days', () => {
    for (const queue of stack.all('AWS::SQS::Queue')) {
      expect(queue.Properties).toMatchObject({
        SqsManagedSseEnabled: true,
        MessageRetentionPeriod: 1_209_600,
      });
      const policy = stack
        .all('AWS::SQS::QueuePolicy')
        .find(({ Properties }) =>
          Properties.Queues.some(({ Ref }: Record<string, string>) => Ref === queue.logicalId),
        );
      expect(policy?.Properties.PolicyDocument.Statement).toContainEqual(
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      );
    }
  });

  it('names no other stack and no other region', () => {
    const others = each.filter(([, other]) => other !== stack).map(([, other]) => other.environment);
    for (const { stackId, region } of others) {
      expect(stack.text).not.toMatch(new RegExp(`\\b${stackId}\\b`));
      if (!environment.residencyRegions.includes(region)) expect(stack.text).not.toContain(region);
    }
  });
});

describe('synthesis', () => {
  it('takes the accounts that the deployer gives', () => {
    const { name, region, standby } = withStandby;
    const found = withApp(({ node }) => node.children.map((child) => (child as Stack).environment), {
      environments: [newcomer, withStandby],
      accounts: { [name]: '123456789012' },
      validateTemplates: false,
    });
    expect(found).toEqual([
      `aws://unknown-account/${newcomer.region}`,
      `aws://123456789012/${region}`,
      `aws://123456789012/${standby.region}`,
    ]);
  });

  it('leaves no bundle behind', () => {
    expect(temporaryFiles(`wallet-bundle-${process.pid}-`)).toEqual([]);
  });

  it('gives the same templates in another process, without account, credentials or network settings', () => {
    withTemporaryFolder((outdir) => {
      const { status, stderr } = spawnSync(process.execPath, ['--require', 'tsx/cjs', 'bin/app.ts'], {
        cwd: resolve(__dirname, '../..'),
        env: { PATH: '/usr/bin:/bin', HOME: outdir, CDK_OUTDIR: outdir, CDK_VALIDATION: 'false' },
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      for (const [, { environment, text }] of each as [string, StackTemplate][])
        expect(readFileSync(join(outdir, `${environment.stackId}.template.json`), 'utf8')).toBe(text);
      const manifest = JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8'));
      expect(manifest.missing).toBeUndefined();
    });
  });
});
