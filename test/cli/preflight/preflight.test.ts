import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { inProject } from '../../../cli/pasted-command';
import { planOf } from '../../../cli/preflight/plan';
import { accountVariable } from '../../../lib/environment/accounts';
import { environments } from '../../../lib/environments';
import { unusedPort } from '../../support/unused-port';
import { runWallet } from '../../support/wallet-command';
import { type LocalAccount, type Replies, refusal, result, startAccount } from './account';
import { accountId, deployed, gatewayId, inStatus, orderable, ready, running } from './ready-account';

const allocationId = 'eipalloc-0123456789abcdef0';
const reserveId = 'eipalloc-0123456789abcdef1';

// Two rows, whatever the table has: an environment with a standby, and one without that adopts its address. Both have a
// reserve.
jest.mock('../../../lib/environments', () => {
  const { environments: table } = jest.requireActual('../../../lib/environments');
  const row = {
    ...table[0],
    region: 'eu-central-1',
    residencyRegions: ['eu-central-1', 'eu-west-1'],
    zones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
    databaseAccess: 'data-api',
    throttle: { requestsPerSecond: 200, burst: 400 },
  };
  const standby = {
    stackId: 'WalletServingStandby',
    region: 'eu-west-1',
    zones: ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'],
    vpcCidr: '10.250.0.0/16',
    globalClusterIdentifier: 'wallet-serving',
  };
  const adoptedElasticIp = { allocationId: 'eipalloc-0123456789abcdef0', address: '203.0.113.7' };
  const adoptedReserve = { allocationId: 'eipalloc-0123456789abcdef1', address: '203.0.113.8' };
  const webhookOrigin = { reserve: true, adoptedReserve };
  const adopting = { ...row, name: 'adopting', stackId: 'WalletAdopting', adoptedElasticIp, webhookOrigin };
  return {
    environments: [
      { ...row, name: 'serving', stackId: 'WalletServing', standby, webhookOrigin: { reserve: true } },
      { ...adopting, standby: undefined },
    ],
  };
});

const { environments: table } =
  jest.requireActual<typeof import('../../../lib/environments')>('../../../lib/environments');

let account: LocalAccount;
const settings = ['AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_CONFIG_FILE'];
const before = Object.fromEntries(settings.map((name) => [name, process.env[name]]));

beforeAll(async () => {
  account = await startAccount();
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: account.url,
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_CONFIG_FILE: '/dev/null',
  });
  for (const environment of environments) await planOf(environment);
}, 180_000);

afterAll(async () => {
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await account.close();
});

const variables = { WALLET_SERVING_ACCOUNT: accountId, WALLET_ADOPTING_ACCOUNT: accountId };

const wallet = (args: readonly string[], given: Readonly<Record<string, string>> = variables) =>
  runWallet(args, { variables: given });

/** The lines of a run with a ready account, changed by these replies: `outcome | stack | check | found`. */
async function preflight(replies: Replies, ...args: string[]) {
  account.answer(replies, ready);
  const { exitCode, stdout, stderr } = await wallet(['preflight', ...args]);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/).join(' | '));
  return { exitCode, stderr, lines, failed: lines.filter((line) => line.startsWith('failed')) };
}

const runtimeLines = (...stacks: readonly [string, string][]) =>
  stacks.map(
    ([stack, region]) =>
      `not asked | ${stack} | functions' runtime | AWS has no call that tells whether ${region} offers nodejs24.x: see https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html`,
  );

it('all is ok in an account that is ready, but for what AWS tells nobody', async () => {
  const { exitCode, lines, stderr } = await preflight({});
  expect(lines.filter((line) => !line.startsWith('ok'))).toEqual(
    runtimeLines(['WalletServing', 'eu-central-1'], ['WalletServingStandby', 'eu-west-1']),
  );
  expect(lines).toEqual(
    expect.arrayContaining([
      `ok | account | account | ${accountId}, of the credentials (arn:aws:iam::${accountId}:user/deployer) and of the environment`,
      "ok | WalletServing | availability zones | all of the region's are available: eu-central-1a, eu-central-1b, eu-central-1c",
      'ok | WalletServing | quota: Elastic IPs | 1 of 5 used in eu-central-1, 2 more needed',
      'ok | WalletServing | quota: NAT gateways in a zone | 0 of 5 used in eu-central-1a, 1 of 5 used in eu-central-1b, 0 of 5 used in eu-central-1c, 1 more needed',
      "ok | WalletServing | quota: Lambda concurrency | 1000 of 1000 executions unreserved, the throttle's burst is 400",
      'ok | WalletServing | RDS Data API | supported for aurora-postgresql 17.9 in eu-central-1',
      'ok | WalletServingStandby | quota: Elastic IPs | the stack makes none',
      'ok | WalletServingStandby | quota: VPCs | 2 of 5 used in eu-west-1, 1 more needed',
    ]),
  );
  expect(stderr).toContain(
    'Asking AWS about WalletServing in eu-central-1 and WalletServingStandby in eu-west-1',
  );
  expect(stderr).toContain(`serving: ${lines.length - 2} ok, 0 warnings, 0 failed, 2 not asked.`);
  expect(exitCode).toBe(0);
});

it('asks each stack in its own region, and by calls that read alone', async () => {
  await preflight({});
  expect(account.calls.filter(({ action }) => !/^(Get|List|Describe)[A-Z]/.test(action))).toEqual([]);
  const regional = account.calls.filter(({ service }) => ['ec2', 'ssm', 'rds', 'kms'].includes(service));
  expect(new Set(regional.map(({ region }) => region))).toEqual(new Set(['eu-central-1', 'eu-west-1']));
  const events = account.calls.filter(({ service }) => service === 'health');
  expect(events.map(({ region, input }) => [region, input.filter])).toEqual(
    ['eu-central-1', 'eu-west-1'].map((region) => [
      'us-east-1',
      { regions: [region], eventStatusCodes: ['open'], eventTypeCategories: ['issue'] },
    ]),
  );
});

it('asks no room for what the deployed stack has already', async () => {
  const gateway = ['AWS::EC2::NatGateway', gatewayId] as const;
  const { lines, exitCode } = await preflight({
    ...deployed({
      WebhookOriginElasticIp: ['AWS::EC2::EIP', '203.0.113.7'],
      WebhookOriginReserveElasticIp: ['AWS::EC2::EIP', '203.0.113.8'],
      WebhookOriginNatGateway: gateway,
      DatabaseCluster: ['AWS::RDS::DBCluster', 'wallet-serving-1'],
    }),
    'ec2:DescribeAddresses': () => result({ addressesSet: Array(5).fill({ publicIp: '203.0.113.1' }) }),
  });
  expect(lines).toEqual(
    expect.arrayContaining([
      'ok | WalletServing | quota: Elastic IPs | the deployed stack has its own already',
      'ok | WalletServing | quota: NAT gateways in a zone | the deployed stack has its own already',
      'ok | WalletServing | database version that runs | 17.9 runs, the template has 17.9',
      "ok | WalletServing | stack's state | UPDATE_COMPLETE",
    ]),
  );
  expect(exitCode).toBe(0);
});

const standby = (replies: Replies, service: string): Replies =>
  Object.fromEntries(
    Object.entries(replies).map(([action, respond]) => [
      action,
      (call) => {
        const usual = ready[action];
        const isStandby = call.region === 'eu-west-1' || call.input.RegionName === 'eu-west-1';
        if (!isStandby && usual) return usual(call);
        expect(action).toContain(service);
        return respond(call);
      },
    ]),
  );

const quotaLine = (title: string, found: string, service: string, code: string, desired: number) =>
  `failed | WalletAdopting | ${title} | ${found}. Release what is not needed, or ask for more: aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${desired} --region eu-central-1`;
const of = '--stack-name WalletAdopting --region eu-central-1';
const zonesInState = (states: Readonly<Record<string, string>>) =>
  result({
    availabilityZoneInfo: Object.entries(states).map(([letter, zoneState]) => ({
      zoneName: `eu-central-1${letter}`,
      zoneState,
    })),
  });
const many = (count: number, value: object) => Array(count).fill(value);
/** Both adopted addresses, free but for these changes. */
const adoptedAddress =
  (changes: object, reserveChanges = {}): Replies[string] =>
  ({ input }) => {
    const isReserve = JSON.stringify(input).includes(reserveId);
    const one = { allocationId, publicIp: '203.0.113.7', ...changes };
    const reserve = { allocationId: reserveId, publicIp: '203.0.113.8', ...reserveChanges };
    return result({ addressesSet: [isReserve ? reserve : one] });
  };

/** One failure each, and the one line that tells of it. The others are ok, or not asked because of it. */
const failures: readonly [name: string, replies: Replies, line: string][] = [
  [
    'the region is disabled',
    { 'account:GetRegionOptStatus': () => result({ RegionOptStatus: 'DISABLED' }) },
    'failed | WalletAdopting | region is enabled | eu-central-1 is DISABLED. Enable it: aws account enable-region --region-name eu-central-1',
  ],
  [
    'the region is being enabled',
    { 'account:GetRegionOptStatus': () => result({ RegionOptStatus: 'ENABLING' }) },
    'failed | WalletAdopting | region is enabled | eu-central-1 is ENABLING. Wait: it takes minutes, and in some accounts hours.',
  ],
  [
    'the account is another',
    {
      'sts:GetCallerIdentity': () =>
        result({ Account: '999999999999', Arn: 'arn:aws:iam::999999999999:user/x' }),
    },
    `failed | account | account | the credentials (arn:aws:iam::999999999999:user/x) are of 999999999999, the environment's account is ${accountId}. Sign in to ${accountId} and name the profile in AWS_PROFILE, or correct WALLET_ADOPTING_ACCOUNT.`,
  ],
  [
    'the session has expired',
    {
      'sts:GetCallerIdentity': () =>
        refusal('ExpiredToken', 'The security token included in the request is expired'),
    },
    'failed | account | account | no valid credentials: ExpiredToken: The security token included in the request is expired. Sign in (such as "aws sso login") and name the profile in AWS_PROFILE. Session tokens of the global STS endpoint are not valid in a region that has to be enabled.',
  ],
  [
    'the account may not use a service yet',
    { 'kms:*': () => refusal('SubscriptionRequiredException', 'The AWS Access Key Id needs a subscription') },
    'failed | WalletAdopting | quota: KMS keys | kms:ListKeys was refused, because the account is not signed up for it: The AWS Access Key Id needs a subscription. Complete the registration of the account: it takes up to 24 hours.',
  ],
  [
    'the service-linked role is missing',
    { 'iam:GetRole': () => refusal('NoSuchEntity') },
    'failed | account | service-linked role of RDS | the account has no AWSServiceRoleForRDS. Make it: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com',
  ],
  [
    'the region was never bootstrapped',
    { 'ssm:GetParameter': () => refusal('ParameterNotFound') },
    `failed | WalletAdopting | CDK's bootstrap stack | eu-central-1 has none: no parameter /cdk-bootstrap/hnb659fds/version. Bootstrap the region: ${inProject(`npx cdk bootstrap aws://${accountId}/eu-central-1`)}`,
  ],
  [
    'the bootstrap stack is too old',
    { 'ssm:GetParameter': () => result({ Parameter: { Value: '5' } }) },
    `failed | WalletAdopting | CDK's bootstrap stack | version 5, at least 6 is needed. Bootstrap the region: ${inProject(`npx cdk bootstrap aws://${accountId}/eu-central-1`)}`,
  ],
  [
    'an update runs',
    inStatus('UPDATE_IN_PROGRESS'),
    "failed | WalletAdopting | stack's state | UPDATE_IN_PROGRESS. Wait until CloudFormation is done with it, then run this command again.",
  ],
  [
    'an update could not be rolled back',
    inStatus('UPDATE_ROLLBACK_FAILED'),
    `failed | WalletAdopting | stack's state | UPDATE_ROLLBACK_FAILED. Remove the cause, then: aws cloudformation continue-update-rollback ${of}. When the stack is UPDATE_ROLLBACK_COMPLETE, run this command again.`,
  ],
  ...['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'].map((status): [string, Replies, string] => [
    `the first deployment ended in ${status}`,
    inStatus(status),
    `failed | WalletAdopting | stack's state | ${status}. Remove what the failed creation left, see "Recovering from a failed first deployment" in docs/runbook.md. The stack itself: aws cloudformation delete-stack ${of}`,
  ]),
  [
    'a deletion did not end',
    inStatus('DELETE_FAILED'),
    `failed | WalletAdopting | stack's state | DELETE_FAILED. Remove what could not be deleted, see "Deleting a stack with an SLA" in docs/runbook.md, then: aws cloudformation delete-stack ${of}`,
  ],
  [
    'a change set was never executed',
    inStatus('REVIEW_IN_PROGRESS'),
    `failed | WalletAdopting | stack's state | REVIEW_IN_PROGRESS. A change set was never executed, and there is no stack behind it. Remove it: aws cloudformation delete-stack ${of}`,
  ],
  [
    'a zone of the row is not there, before the first deployment',
    { 'ec2:DescribeAvailabilityZones': () => zonesInState({ a: 'available', b: 'impaired' }) },
    'failed | WalletAdopting | availability zones | eu-central-1b is impaired, eu-central-1c is not there; available: eu-central-1a. Name zones that the account has in lib/environments.ts.',
  ],
  [
    'VPCs are at their quota',
    { 'ec2:DescribeVpcs': () => result({ vpcSet: many(5, { vpcId: 'vpc-1' }) }) },
    quotaLine('quota: VPCs', '5 of 5 used in eu-central-1, 1 more needed', 'vpc', 'L-F678F1CE', 6),
  ],
  [
    'NAT gateways are at their quota in one zone',
    { 'ec2:DescribeNatGateways': () => result({ natGatewaySet: many(5, { subnetId: 'subnet-1' }) }) },
    quotaLine(
      'quota: NAT gateways in a zone',
      '5 of 5 used in eu-central-1b, 1 more needed',
      'vpc',
      'L-FE5A380F',
      6,
    ),
  ],
  [
    'KMS keys are at a quota that nobody raised',
    {
      'servicequotas:GetServiceQuota': (call) =>
        call.input.ServiceCode === 'kms'
          ? refusal('NoSuchResourceException')
          : (ready['servicequotas:GetServiceQuota'] as NonNullable<Replies[string]>)(call),
      'servicequotas:GetAWSDefaultServiceQuota': () => result({ Quota: { Value: 3 } }),
    },
    quotaLine('quota: KMS keys', '1 of 3 used in eu-central-1, 5 more needed', 'kms', 'L-C2F1777E', 6),
  ],
  [
    'the account is new to Lambda',
    {
      'lambda:GetAccountSettings': () =>
        result({ AccountLimit: { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 } }),
    },
    quotaLine(
      'quota: Lambda concurrency',
      "10 of 10 executions unreserved, the throttle's burst is 400",
      'lambda',
      'L-B99A9384',
      400,
    ),
  ],
  [
    'the version is offered in another zone alone',
    { 'rds:DescribeOrderableDBInstanceOptions': () => orderable('eu-central-1d', true) },
    'failed | WalletAdopting | database version, serverless | aurora-postgresql 17.9, db.serverless is offered in none of eu-central-1a, eu-central-1b, eu-central-1c. Choose another version in lib/database/foundation.ts: aws rds describe-orderable-db-instance-options --engine aurora-postgresql --db-instance-class db.serverless --query "OrderableDBInstanceOptions[].EngineVersion" --region eu-central-1',
  ],
  [
    'RDS does not know the version',
    { 'rds:DescribeOrderableDBInstanceOptions': () => refusal('InvalidParameterCombination') },
    'failed | WalletAdopting | database version, serverless | aurora-postgresql 17.9, db.serverless is offered in none of eu-central-1a, eu-central-1b, eu-central-1c. Choose another version in lib/database/foundation.ts: aws rds describe-orderable-db-instance-options --engine aurora-postgresql --db-instance-class db.serverless --query "OrderableDBInstanceOptions[].EngineVersion" --region eu-central-1',
  ],
  [
    'the Data API is not supported',
    { 'rds:DescribeOrderableDBInstanceOptions': () => orderable('eu-central-1a', false) },
    'failed | WalletAdopting | RDS Data API | not supported for aurora-postgresql 17.9 in eu-central-1. Give the environment databaseAccess "direct" in lib/environments.ts, or another version in lib/database/foundation.ts.',
  ],
  [
    'a newer version runs',
    {
      ...deployed({ DatabaseCluster: ['AWS::RDS::DBCluster', 'wallet-1'] }),
      'rds:DescribeDBClusters': () => running('17.10'),
    },
    'failed | WalletAdopting | database version that runs | 17.10 runs, the template has 17.9. Put 17.10 into lib/database/foundation.ts: RDS goes back to no older version.',
  ],
  [
    'the adopted address is not in the account',
    { 'ec2:DescribeAddresses': () => result({ addressesSet: [] }) },
    `failed | WalletAdopting | adopted Elastic IP | the account has no ${allocationId} in eu-central-1. Look for the address: aws ec2 describe-addresses --filters Name=public-ip,Values=203.0.113.7 --region eu-central-1`,
  ],
  [
    'the adopted allocation is another address',
    { 'ec2:DescribeAddresses': adoptedAddress({ publicIp: '203.0.113.8' }) },
    `failed | WalletAdopting | adopted Elastic IP | ${allocationId} is 203.0.113.8, the environment has 203.0.113.7. Correct adoptedElasticIp in lib/environments.ts: receivers rely on the address.`,
  ],
  [
    'the adopted address is on something else',
    {
      'ec2:DescribeAddresses': adoptedAddress({ associationId: 'eipassoc-1', networkInterfaceId: 'eni-1' }),
    },
    `failed | WalletAdopting | adopted Elastic IP | 203.0.113.7 (${allocationId}) is on eni-1, not on the stack's gateway. Free it: "Keeping the address" in docs/runbook.md; what holds it: aws ec2 describe-network-interfaces --filters Name=association.allocation-id,Values=${allocationId} --region eu-central-1`,
  ],
  [
    'the adopted reserve is another address',
    { 'ec2:DescribeAddresses': adoptedAddress({}, { publicIp: '203.0.113.9' }) },
    `failed | WalletAdopting | adopted Elastic IP | ${reserveId} is 203.0.113.9, the environment has 203.0.113.8. Correct webhookOrigin.adoptedReserve in lib/environments.ts: receivers rely on the address.`,
  ],
];

it.each(failures)('fails alone, with value and remedy: %s', async (_, replies, line) => {
  const free = { 'ec2:DescribeAddresses': adoptedAddress({}) };
  const { exitCode, failed, stderr } = await preflight({ ...free, ...replies }, '--environment', 'adopting');
  expect(failed).toEqual([line]);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/error: adopting: \d+ ok, 0 warnings, 1 failed, \d+ not asked\./);
});

const repair = 'unless this deployment is the repair';
const warnings: readonly [name: string, replies: Replies, line: string][] = [
  [
    'AWS has an issue in the region',
    {
      'health:DescribeEvents': () =>
        result({
          events: [{ service: 'EC2', eventTypeCode: 'AWS_EC2_OPERATIONAL_ISSUE', startTime: 1_772_000_000 }],
        }),
    },
    `open issues in AWS Health | EC2 AWS_EC2_OPERATIONAL_ISSUE since 2026-02-25T06:13:20.000Z. Read https://health.aws.amazon.com/health/home. Wait if it concerns the stack, ${repair}.`,
  ],
  [
    'a zone of the row is impaired',
    {
      'ec2:DescribeAvailabilityZones': () =>
        zonesInState({ a: 'available', b: 'impaired', c: 'unavailable' }),
    },
    `availability zones | eu-central-1b is impaired, eu-central-1c is unavailable; available: eu-central-1a. Wait for the zones, ${repair}: "A zone is gone" in docs/runbook.md.`,
  ],
  [
    'a zone of the region that the row does not use is unavailable',
    {
      'ec2:DescribeAvailabilityZones': () =>
        zonesInState({ a: 'available', b: 'available', c: 'available', d: 'unavailable' }),
    },
    `availability zones | eu-central-1d is unavailable; available: eu-central-1a, eu-central-1b, eu-central-1c. Wait for the zones, ${repair}: "A zone is gone" in docs/runbook.md.`,
  ],
  [
    'a zone is not there any more, of a stack that is deployed',
    {
      ...inStatus('UPDATE_COMPLETE'),
      'ec2:DescribeAvailabilityZones': () => zonesInState({ a: 'available', b: 'available' }),
    },
    `availability zones | eu-central-1c is not there; available: eu-central-1a, eu-central-1b. Wait for the zones, ${repair}: "A zone is gone" in docs/runbook.md.`,
  ],
];

it.each(warnings)('warns, and fails nothing: %s', async (_, replies, line) => {
  const free = { 'ec2:DescribeAddresses': adoptedAddress({}) };
  const { exitCode, lines } = await preflight({ ...free, ...replies }, '--environment', 'adopting');
  const isNews = (each: string) => /^(warning|failed)/.test(each);
  expect(lines.filter(isNews)).toEqual([`warning | WalletAdopting | ${line}`]);
  expect(exitCode).toBe(0);
});

it('fails for Elastic IPs at their quota', async () => {
  const { failed } = await preflight({
    'ec2:DescribeAddresses': () => result({ addressesSet: many(4, { publicIp: '203.0.113.1' }) }),
  });
  expect(failed).toEqual([
    quotaLine(
      'quota: Elastic IPs',
      '4 of 5 used in eu-central-1, 2 more needed',
      'ec2',
      'L-0263D0A3',
      6,
    ).replace('WalletAdopting', 'WalletServing'),
  ]);
});

it('fails for the standby alone when its region is off, and asks nothing more of it', async () => {
  const off: Replies = { 'account:GetRegionOptStatus': () => result({ RegionOptStatus: 'DISABLED' }) };
  const { lines, failed } = await preflight(standby(off, 'account'));
  expect(failed).toEqual([
    expect.stringContaining('WalletServingStandby | region is enabled | eu-west-1 is DISABLED'),
  ]);
  const others = lines.filter(
    (line) => line.includes('| WalletServingStandby |') && !line.startsWith('failed'),
  );
  expect(new Set(others.map((line) => line.split(' | ')[3]))).toEqual(
    new Set(['"region is enabled" has to be right first']),
  );
  expect(account.calls.filter(({ service, region }) => service === 'ec2' && region === 'eu-west-1')).toEqual(
    [],
  );
});

it('asks another account nothing but who it is and which regions it has', async () => {
  await preflight({ 'sts:GetCallerIdentity': () => result({ Account: '999999999999', Arn: 'x' }) });
  expect(new Set(account.calls.map(({ service }) => service))).toEqual(new Set(['sts', 'account']));
});

it('tells which account it would be when the variables give none', async () => {
  account.answer(ready);
  const { stdout, exitCode } = await wallet(['preflight'], {});
  expect(stdout).toContain(
    `${accountId}, of the credentials (arn:aws:iam::${accountId}:user/deployer): WALLET_SERVING_ACCOUNT gives no other`,
  );
  expect(exitCode).toBe(0);
});

it('takes an adopted address that is on its own gateway', async () => {
  const held = { associationId: 'eipassoc-1', networkInterfaceId: 'eni-1' };
  const { lines, exitCode } = await preflight(
    {
      ...deployed({ WebhookOriginNatGateway: ['AWS::EC2::NatGateway', gatewayId] }),
      'ec2:DescribeAddresses': adoptedAddress(held),
      'ec2:DescribeNatGateways': () =>
        result({ natGatewaySet: [{ natGatewayId: gatewayId, natGatewayAddressSet: [{ allocationId }] }] }),
    },
    '--environment',
    'adopting',
  );
  expect(lines).toContain(
    `ok | WalletAdopting | adopted Elastic IP | 203.0.113.7 (${allocationId}) is on the stack's own gateway ${gatewayId}, 203.0.113.8 (${reserveId}) is free`,
  );
  expect(exitCode).toBe(0);
});

/** Refusals by their service's name for them, and the lines of the checks that cannot do without the call. */
const refusals: readonly (readonly [action: string, code: string, stack: string, check: string])[][] = [
  [
    ['iam:GetRole', 'AccessDenied', 'account', 'service-linked role of RDS'],
    ['ssm:GetParameter', 'AccessDeniedException', 'WalletServing', "CDK's bootstrap stack"],
    ['ec2:DescribeAvailabilityZones', 'UnauthorizedOperation', 'WalletServing', 'availability zones'],
    ['ec2:DescribeAddresses', 'UnauthorizedOperation', 'WalletServing', 'quota: Elastic IPs'],
    ['ec2:DescribeVpcs', 'UnauthorizedOperation', 'WalletServingStandby', 'quota: VPCs'],
    ['ec2:DescribeNatGateways', 'UnauthorizedOperation', 'WalletServing', 'quota: NAT gateways in a zone'],
    ['kms:ListKeys', 'AccessDeniedException', 'WalletServingStandby', 'quota: KMS keys'],
    ['lambda:GetAccountSettings', 'AccessDeniedException', 'WalletServing', 'quota: Lambda concurrency'],
    ['rds:DescribeOrderableDBInstanceOptions', 'AccessDenied', 'WalletServing', 'RDS Data API'],
    ['health:DescribeEvents', 'AccessDeniedException', 'WalletServing', 'open issues in AWS Health'],
  ],
  [
    ['sts:GetCallerIdentity', 'AccessDenied', 'account', 'account'],
    ['account:GetRegionOptStatus', 'AccessDeniedException', 'WalletServing', 'region is enabled'],
    ['ec2:DescribeSubnets', 'UnauthorizedOperation', 'WalletServing', 'quota: NAT gateways in a zone'],
    ['servicequotas:GetServiceQuota', 'AccessDeniedException', 'WalletServing', 'quota: VPCs'],
    [
      'rds:DescribeOrderableDBInstanceOptions',
      'AccessDenied',
      'WalletServing',
      'database version, serverless',
    ],
  ],
  [
    ['cloudformation:DescribeStacks', 'AccessDenied', 'WalletServing', "stack's state"],
    ['cloudformation:DescribeStacks', 'AccessDenied', 'WalletServing', 'quota: Elastic IPs'],
    ['cloudformation:DescribeStacks', 'AccessDenied', 'WalletServing', 'database version that runs'],
  ],
];

it.each(refusals.map((each) => [each]))(
  'what may not be called is not asked, and nothing fails: %j',
  async (each) => {
    const { lines, exitCode } = await preflight(
      Object.fromEntries(each.map(([action, code]) => [action, () => refusal(code)])),
    );
    expect(lines).toEqual(
      expect.arrayContaining(
        each.map(([action, , stack, check]) => `not asked | ${stack} | ${check} | ${action} was refused: No`),
      ),
    );
    expect(exitCode).toBe(0);
  },
);

const unanswered: readonly [name: string, replies: Replies, line: string][] = [
  [
    'AWS Health without a support plan',
    { 'health:DescribeEvents': () => refusal('SubscriptionRequiredException') },
    'not asked | WalletServing | open issues in AWS Health | AWS Health answers accounts with a Business support plan or more alone',
  ],
  [
    'RDS that does not tell of the Data API',
    { 'rds:DescribeOrderableDBInstanceOptions': ({ region }) => orderable(`${region}a`) },
    'not asked | WalletServing | RDS Data API | RDS does not say whether it is supported for aurora-postgresql 17.9 in eu-central-1: see https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Concepts.Aurora_Fea_Regions_DB-eng.Feature.Data_API.html',
  ],
  [
    'a proxy that answers for a service',
    { 'kms:*': () => ({ page: '<html>\n<h1>Sign in</h1></html>' }) },
    'not asked | WalletServing | quota: KMS keys | kms:ListKeys was not answered as AWS answers: status 200, text/html',
  ],
  [
    'a page that the SDK would read as an answer without content',
    { 'ec2:DescribeAddresses': () => ({ page: '<html>\n<h1>Sign in</h1></html>' }) },
    'not asked | WalletServing | quota: Elastic IPs | ec2:DescribeAddresses was not answered as AWS answers: status 200, text/html',
  ],
  [
    'a service that is silent',
    { 'kms:*': () => 'silence' },
    'not asked | WalletServing | quota: KMS keys | kms:ListKeys was not answered within 5 s',
  ],
];

it.each(unanswered)('%s is not asked, and stops nothing else', async (_, replies, line) => {
  const { lines, exitCode } = await preflight(replies, '--timeout', '5s');
  expect(lines).toContainEqual(expect.stringContaining(line));
  expect(lines).toContainEqual(expect.stringContaining('ok | WalletServing | quota: VPCs'));
  expect(exitCode).toBe(0);
});

it('as a process: takes account and endpoints from its variables, and goes on without a service out of reach', async () => {
  account.answer(ready);
  const nowhere = `http://127.0.0.1:${await unusedPort()}`;
  const variable = accountVariable(table[0]?.name ?? '');
  const env = { ...process.env, [variable]: accountId, AWS_ENDPOINT_URL_KMS: nowhere };
  const root = resolve(__dirname, '../../..');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--require', 'tsx/cjs', 'bin/wallet.ts', 'preflight', '--json'],
    { cwd: root, env },
  );
  const { account: expected, passed, checks } = JSON.parse(stdout);
  expect({ expected, passed }).toEqual({ expected: accountId, passed: true });
  const found = (id: string) =>
    checks.filter((each: { id: string }) => each.id === id).map((each: { found: string }) => each.found);
  const stacks = table[0]?.standby ? 2 : 1;
  expect(found('kms-keys')).toEqual(
    Array(stacks).fill(expect.stringMatching(/^kms:ListKeys cannot be reached: connect ECONNREFUSED /)),
  );
  const missed = checks.filter(({ outcome }: { outcome: string }) => outcome === 'not asked');
  expect(new Set(missed.map(({ id }: { id: string }) => id))).toEqual(
    new Set(['kms-keys', 'lambda-runtime']),
  );
}, 120_000);

it('fails when AWS answers no call at all: nothing was checked', async () => {
  process.env.AWS_ENDPOINT_URL = `http://127.0.0.1:${await unusedPort()}`;
  try {
    const { exitCode, failed, stderr } = await preflight({});
    expect(failed).toEqual([]);
    expect(stderr).toContain('AWS answered no call.\nCheck the network.');
    expect(exitCode).toBe(1);
  } finally {
    process.env.AWS_ENDPOINT_URL = account.url;
  }
});

it('fails when a proxy answers each call: nothing was checked either', async () => {
  const services = [...new Set(Object.keys(ready).map((action) => action.split(':')[0]))];
  const pages = services.map((service) => [`${service}:*`, () => ({ page: '<html></html>' })]);
  account.answer(Object.fromEntries(pages));
  const { exitCode, stderr } = await wallet(['preflight']);
  expect(stderr).toContain('AWS answered no call.\nCheck the network.');
  expect(exitCode).toBe(1);
});

it('leaves checks out on demand', async () => {
  const { exitCode, lines } = await preflight(
    { 'health:*': () => refusal('X') },
    '--without',
    'health,kms-keys',
  );
  expect(lines).toContain('not asked | WalletServing | open issues in AWS Health | left out: --without');
  expect(lines).toContain('not asked | WalletServingStandby | quota: KMS keys | left out: --without');
  expect(account.calls.filter(({ service }) => ['health', 'kms'].includes(service))).toEqual([]);
  expect(exitCode).toBe(0);
});

it('prints an object with --json, for a failure too', async () => {
  account.answer({ 'iam:GetRole': () => refusal('NoSuchEntity') }, ready);
  const { stdout, exitCode } = await wallet(['preflight', '--json']);
  const { checks, ...facts } = JSON.parse(stdout);
  expect(facts).toEqual({ environment: 'serving', account: accountId, passed: false });
  expect(checks).toHaveLength(34);
  expect(checks).toContainEqual({
    id: 'rds-service-linked-role',
    title: 'service-linked role of RDS',
    stack: null,
    region: null,
    outcome: 'failed',
    found: 'the account has no AWSServiceRoleForRDS',
    remedy: 'Make it: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com',
  });
  expect(checks).toContainEqual({
    id: 'stack-state',
    title: "stack's state",
    stack: 'WalletServingStandby',
    region: 'eu-west-1',
    outcome: 'ok',
    found: 'there is none yet',
    remedy: null,
  });
  expect(exitCode).toBe(1);
});

const misuses: readonly [
  name: string,
  args: readonly string[],
  given: Readonly<Record<string, string>>,
  said: string,
][] = [
  ['an unknown environment', ['--environment', 'mars'], {}, "argument 'mars' is invalid"],
  ['an unknown check', ['--without', 'weather'], {}, 'There is no check "weather". Choose of account, '],
  ['an account that is none', [], { WALLET_SERVING_ACCOUNT: '12' }, 'WALLET_SERVING_ACCOUNT is "12"'],
  [
    'a variable of no environment',
    [],
    { WALLET_MARS_ACCOUNT: accountId },
    'WALLET_MARS_ACCOUNT belongs to no environment',
  ],
];

it.each(misuses)('exits with 2, and asks nothing, for %s', async (_, args, given, said) => {
  account.answer(ready);
  const { exitCode, stdout, stderr } = await wallet(['preflight', ...args], given);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(said);
  expect(account.calls).toEqual([]);
});
