import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Client } from 'pg';
import { ensureDatabase } from '../../lib/local/resources/database';
import { eventSourceMapping } from '../../lib/local/resources/event-source-mapping';
import { createFunctions } from '../../lib/local/resources/function';
import { digitsOf, uuidOf } from '../../lib/local/resources/names';
import { openSecrets } from '../../lib/local/resources/secrets';
import { stubResource } from '../../lib/local/resources/stub';
import { startPostgres, type TestPostgres } from '../support/postgres';

const identity = { stackName: 'WalletEu', region: 'eu-central-1' };
const request = (logicalId: string, type: string, properties: Record<string, unknown>) => ({
  logicalId,
  type,
  properties: (names = Object.keys(properties)) =>
    Object.fromEntries(names.filter((name) => name in properties).map((name) => [name, properties[name]])),
});

describe('names', () => {
  it('are the same on every run, and differ between resources, stacks and regions', () => {
    const part = fc.stringMatching(/^[A-Za-z]{1,12}$/);
    fc.assert(
      fc.property(part, part, part, part, (stackName, region, one, other) => {
        expect(uuidOf({ stackName, region }, one)).toBe(uuidOf({ stackName, region }, one));
        expect(uuidOf({ stackName, region }, one)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
        );
        fc.pre(one !== other);
        expect(digitsOf({ stackName, region }, one)).not.toBe(digitsOf({ stackName, region }, other));
        expect(digitsOf({ stackName: one, region }, region)).not.toBe(
          digitsOf({ stackName: other, region }, region),
        );
      }),
    );
  });

  it('the Elastic IP is the loopback address', () => {
    const address = stubResource(identity, { logicalId: 'Origin', type: 'AWS::EC2::EIP' });
    expect(address.ref).toBe('127.0.0.1');
    expect(address.attributes.PublicIp).toBe('127.0.0.1');
  });

  it("a domain name of one's own leads to this machine", () => {
    const domain = stubResource(identity, { logicalId: 'Api', type: 'AWS::ApiGateway::DomainName' });
    expect(domain.attributes.RegionalDomainName).toBe('127.0.0.1');
  });
});

describe('secrets', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'secrets-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const open = (put: { arn: string; value: string }[] = []) =>
    openSecrets(identity, join(directory, 'secrets.json'), { put: (secret) => void put.push(secret) });
  const generate = {
    GenerateSecretString: {
      SecretStringTemplate: '{"username":"wallet_owner"}',
      GenerateStringKey: 'password',
      PasswordLength: 40,
      ExcludeCharacters: ' %+~`#$&*()|[]{}:;<>?!\'/@"\\=^,',
    },
  };

  it('are generated once, kept for later runs, and readable by their owner alone', async () => {
    const put: { arn: string; value: string }[] = [];
    const { ref } = await open(put).provision(request('Master', '', generate));
    const again = await open(put).provision(request('Master', '', generate));
    expect(again.ref).toBe(ref);
    expect(put[1]).toEqual(put[0]);
    const { username, password } = JSON.parse(put[0]?.value ?? '');
    expect(username).toBe('wallet_owner');
    expect(password).toMatch(/^[A-Za-z0-9._-]{40}$/);
    expect(statSync(join(directory, 'secrets.json')).mode & 0o077).toBe(0);
  });

  it('are found by dynamic references, by ARN and by name', async () => {
    const secrets = open();
    const { ref } = await secrets.provision(request('Plain', '', { SecretString: '{"a":"b"}' }));
    expect(secrets.resolve({ text: '', secretId: ref, jsonKey: 'a' })).toBe('b');
    expect(secrets.resolve({ text: '', secretId: 'Plain', jsonKey: undefined })).toBe('{"a":"b"}');
    expect(secrets.resolve({ text: '', secretId: 'Other', jsonKey: 'a' })).toBeUndefined();
  });

  it('of two environments are different', async () => {
    const other = mkdtempSync(join(tmpdir(), 'secrets-'));
    const put: { arn: string; value: string }[] = [];
    await open(put).provision(request('Master', '', generate));
    const store = { put: (secret: { arn: string; value: string }) => void put.push(secret) };
    await openSecrets({ ...identity, region: 'me-central-1' }, join(other, 's.json'), store).provision(
      request('Master', '', generate),
    );
    expect(new Set(put.map(({ value }) => value)).size).toBe(2);
    expect(new Set(put.map(({ arn }) => arn)).size).toBe(2);
    rmSync(other, { recursive: true });
  });
});

describe('the database of a cluster', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  const owner = { username: 'wallet_owner', password: 'first' };

  async function asOwner<T>(password: string, work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({
      host: postgres.host,
      port: postgres.port,
      database: 'wallet',
      user: 'wallet_owner',
      password,
    });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  it('is made once, and takes up a changed password', async () => {
    expect(await ensureDatabase(postgres, { name: 'wallet', owner })).toBe(true);
    expect(await ensureDatabase(postgres, { name: 'wallet', owner: { ...owner, password: 'second' } })).toBe(
      false,
    );
    await asOwner('second', async (client) => {
      expect((await client.query('select current_user')).rows).toEqual([{ current_user: 'wallet_owner' }]);
    });
    await expect(asOwner('first', async () => undefined)).rejects.toThrow('password authentication failed');
  });

  it('belongs to an owner who makes roles and lets them sign in by token, and is no superuser', async () => {
    await ensureDatabase(postgres, { name: 'wallet', owner });
    await asOwner('first', async (client) => {
      await client.query('create role handler login; grant rds_iam to handler; create table t (a int)');
      await expect(client.query('alter system set fsync = off')).rejects.toThrow('permission denied');
      await expect(client.query('select * from pg_authid')).rejects.toThrow('permission denied');
    });
  });
});

describe('event source mappings', () => {
  const properties = {
    EventSourceArn: 'arn:aws:sqs:eu-central-1:000000000000:events',
    FunctionName: 'fan-out',
  };

  it('are enabled and answer as a whole unless they say otherwise', () => {
    expect(eventSourceMapping('WalletEu', 'M', properties)).toEqual({
      queueArn: properties.EventSourceArn,
      functionName: 'fan-out',
      enabled: true,
      reportBatchItemFailures: false,
    });
  });

  it('give all that the template states', () => {
    expect(
      eventSourceMapping('WalletEu', 'M', {
        ...properties,
        Enabled: false,
        BatchSize: 7,
        MaximumBatchingWindowInSeconds: 3,
        ScalingConfig: { MaximumConcurrency: 20 },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      }),
    ).toMatchObject({
      enabled: false,
      batchSize: 7,
      batchingWindowSeconds: 3,
      maximumConcurrency: 20,
      reportBatchItemFailures: true,
    });
  });

  it.each([
    [{ FilterCriteria: { Filters: [] } }, 'WalletEu, M: FilterCriteria is not carried out on this machine.'],
    [{ EventSourceArn: 'arn:aws:kinesis:…' }, 'only queues feed functions on this machine'],
  ])('with %j are refused rather than run otherwise', (extra, problem) => {
    expect(() => eventSourceMapping('WalletEu', 'M', { ...properties, ...extra })).toThrow(problem);
  });
});

describe('functions', () => {
  const functions = createFunctions({
    ...identity,
    assets: new Map([['code.zip', '/nowhere']]),
    runtimeVariables: {},
    certificateAuthority: '/ca.pem',
    onLog: () => undefined,
  });
  const properties = { Code: { S3Key: 'code.zip' }, Handler: 'index.handler' };

  it('are found by name and by ARN', async () => {
    const { ref, attributes } = await functions.provision(request('Greet', '', properties));
    expect(functions.find(ref)).toBe(functions.find(String(attributes.Arn)));
    expect(functions.get('Nobody')).toBeUndefined();
    expect(() => functions.find('Nobody')).toThrow('WalletEu has no function Nobody.');
  });

  it('behind a service token are reached through the provider framework', async () => {
    const own = await functions.provision(request('Own', '', properties));
    const Variables = { USER_ON_EVENT_FUNCTION_ARN: own.attributes.Arn };
    const framework = await functions.provision(
      request('Framework', '', { ...properties, Environment: { Variables } }),
    );
    expect(functions.behindServiceToken(String(framework.attributes.Arn)).name).toBe(own.ref);
    expect(() => functions.behindServiceToken(String(own.attributes.Arn))).toThrow(
      'is not a provider framework',
    );
  });

  it('whose code is no asset are refused by name', async () => {
    const inline = functions.provision(
      request('Inline', '', { Code: { ZipFile: 'x' }, Handler: 'index.handler' }),
    );
    await expect(inline).rejects.toThrow('WalletEu, Inline: only functions whose code is an asset run here.');
  });
});
