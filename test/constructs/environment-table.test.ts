import { readFileSync } from 'node:fs';
import { type Environment, InvalidEnvironment, validateEnvironments } from '../../lib/environment';
import { developerEnvironment, environmentNamed, environments } from '../../lib/environments';
import { newcomer, withStandby } from '../support/rows';
import { stackOf, withApp } from '../support/stacks';

/** What others rely on, for as long as the table has these rows. */
const promised = [
  { name: 'eu', stackId: 'WalletEu', residencyRegions: ['eu-central-1', 'eu-west-1'] },
  { name: 'uae', stackId: 'WalletUae', residencyRegions: ['me-central-1'] },
  { name: 'staging', stackId: 'WalletStaging', residencyRegions: ['eu-west-3'] },
];

it.each(environments.filter(({ name }) => promised.some((promise) => promise.name === name)))(
  'keeps stack and regions of $name',
  (row) => {
    expect(row).toMatchObject(promised.find(({ name }) => name === row.name) as object);
  },
);

describe('a change of the table', () => {
  const templatesOf = (table: readonly Environment[]) =>
    withApp(
      (app) => {
        const { stacks } = app.synth();
        return Object.fromEntries(
          stacks.map(({ stackName, templateFullPath }) => [
            stackName,
            readFileSync(templateFullPath, 'utf8'),
          ]),
        );
      },
      { environments: validateEnvironments(table), validateTemplates: false },
    );
  const present = templatesOf(environments);

  it('leaves every other stack as it is when a row is added', () => {
    expect(templatesOf([...environments, newcomer])).toEqual({
      ...present,
      [newcomer.stackId]: expect.stringContaining(newcomer.vpcCidr),
    });
  });

  it('leaves every other stack as it is when a row is removed', () => {
    const { stackId, standby } = environments.at(-1) as Environment;
    const others = Object.entries(present).filter(([name]) => ![stackId, standby?.stackId].includes(name));
    expect(templatesOf(environments.slice(0, -1))).toEqual(Object.fromEntries(others));
  });
});

describe("a developer's copy", () => {
  const row = developerEnvironment('ada');

  it('shares nothing with the table, and is known to the command line by its name', () => {
    expect(() => validateEnvironments([...environments.slice(1), row])).not.toThrow();
    expect(environmentNamed('dev-ada')).toEqual(row);
    expect(environmentNamed('dev-Ada')).toBeUndefined();
    expect(() => developerEnvironment('Ada')).toThrow(/^developer is "Ada"\. Use 1 to 16/);
  });

  it('leaves nothing behind but its address', () => {
    const kept = stackOf(row).resources.filter(
      ({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete',
    );
    expect(kept.map(({ Type }) => Type)).toEqual(['AWS::EC2::EIP']);
    for (const { Properties } of stackOf(row).all('AWS::KMS::Key'))
      expect(Properties.PendingWindowInDays).toBe(7);
  });

  it('is all that is synthesized with -c developer=NAME', () => {
    process.env.CDK_CONTEXT_JSON = JSON.stringify({ ...JSON.parse(given ?? '{}'), developer: 'ada' });
    withApp((app) => expect(app.synth().stacks.map(({ stackName }) => stackName)).toEqual([row.stackId]), {
      validateTemplates: false,
    });
  });
  const { CDK_CONTEXT_JSON: given } = process.env;
  afterEach(() => {
    process.env.CDK_CONTEXT_JSON = given;
  });
});

describe('two rows that share what must differ', () => {
  const row = {
    ...withStandby,
    domainNames: {
      api: 'api.example.com',
      dashboard: 'dashboard.example.com',
      hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' },
    },
    adoptedElasticIp: { allocationId: 'eipalloc-0123456789abcdef0', address: '203.0.113.7' },
  };
  const { standby, domainNames, adoptedElasticIp } = row;

  const refusalOf = (changes: Partial<Environment>) => {
    try {
      validateEnvironments([row, { ...newcomer, ...changes }]);
      return undefined;
    } catch (error) {
      if (error instanceof InvalidEnvironment) return error;
      throw error;
    }
  };

  it('are accepted when they share nothing', () => {
    expect(refusalOf({})).toBeUndefined();
  });

  it.each<[string, Partial<Environment>, string]>([
    ['stackId', { stackId: row.stackId }, 'stackId'],
    ['stackId', { stackId: standby.stackId }, 'standby.stackId'],
    ['vpcCidr', { vpcCidr: row.vpcCidr }, 'vpcCidr'],
    ['vpcCidr', { vpcCidr: standby.vpcCidr }, 'standby.vpcCidr'],
    [
      'standby.globalClusterIdentifier',
      {
        residencyRegions: [newcomer.region, standby.region],
        zones: newcomer.zones.slice(0, standby.zones.length),
        standby: { ...standby, stackId: 'WalletNewcomerStandby', vpcCidr: '10.241.0.0/16' },
      },
      'standby.globalClusterIdentifier',
    ],
    ['tokenIssuer', { tokenIssuer: row.tokenIssuer }, 'tokenIssuer'],
    ['domainNames.api', { domainNames }, 'domainNames.api'],
    ['adoptedElasticIp.allocationId', { adoptedElasticIp }, 'adoptedElasticIp.allocationId'],
    [
      'webhookOrigin.adoptedReserve.allocationId',
      { webhookOrigin: { reserve: true, adoptedReserve: adoptedElasticIp } },
      'adoptedElasticIp.allocationId',
    ],
  ])('are refused: %s in %j', (field, changes, owner) => {
    expect(refusalOf(changes)?.fields[0]).toMatchObject({
      field: `${newcomer.name}.${field}`,
      remedy: `${row.name}.${owner} is the same: choose another.`,
    });
  });

  it('are told apart by their places when it is the name', () => {
    expect(refusalOf({ name: row.name })?.message).toBe(
      `environments[1].name is "${row.name}". environments[0].name is the same: choose another.`,
    );
  });
});

it.each([[], {}, undefined])('refuses %j as a table', (table) => {
  expect(() => validateEnvironments(table)).toThrow(/^environments is .*Give a list/);
});

it('says which row has no name', () => {
  expect(() => validateEnvironments([newcomer, {}])).toThrow(/^environments\[1\]\.name is missing/);
});
