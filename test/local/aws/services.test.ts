import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { KMS } from '@aws-sdk/client-kms';
import { allowEverything } from '../../../local/aws/iam/permissions';
import { type Services, startServices } from '../../../local/aws/services';
import { Cleanup } from '../../../local/shared/cleanup';
import { exchange } from '../../support/api';
import { localClient } from '../../support/aws-client';
import { temporaryFolder } from '../../support/temporary-folder';

const arn = (resource: string) => `arn:aws:${resource.replace(':', ':eu-central-1:000000000000:')}`;
const [signing, mac] = [arn('kms:key/signing'), arn('kms:key/mac')];

const folder = temporaryFolder();
const cleanup = new Cleanup();
let services: Services;
let kms: KMS;

beforeAll(async () => {
  services = await startServices(cleanup, allowEverything);
  kms = new KMS(localClient(services.endpoints.kms));
  cleanup.add(() => kms.destroy());
});
beforeEach(() => {
  create(signing, 'ECC_NIST_P256', 'SIGN_VERIFY');
  createMac(mac);
});
afterAll(() => cleanup.run());

const create = (key: string, keySpec: string, keyUsage: string, more: object = {}) =>
  services.keys.create({ arn: key, directory: folder(), keySpec, keyUsage, ...more });
const createMac = (key: string, more?: object) => create(key, 'HMAC_256', 'GENERATE_VERIFY_MAC', more);

const Message = Buffer.alloc(4_096);
const sign = (KeyId: string, more: object = {}) =>
  kms.sign({ KeyId, Message, SigningAlgorithm: 'ECDSA_SHA_256', ...more });
const generateMac = (KeyId: string) => kms.generateMac({ KeyId, Message, MacAlgorithm: 'HMAC_SHA_256' });

it.each<[what: string, call: () => Promise<unknown>, name: string]>([
  ['another operation', () => kms.listKeys(), 'UnknownOperationException'],
  ['an unknown key', () => sign(arn('kms:key/none')), 'NotFoundException'],
  ['a digest', () => sign(signing, { MessageType: 'DIGEST' }), 'ValidationException'],
])('refuses %s', async (_, call, name) => {
  await expect(call()).rejects.toMatchObject({ name });
});

it.each(['kms', 'sqs'] as const)('%s refuses web pages', async (service) => {
  const { host, port } = new URL(services.endpoints[service]);
  const statusOf = async (...headers: [name: string, value: string][]) =>
    (await exchange(services.endpoints[service], { method: 'POST', path: '/', headers, body: '{}' })).status;
  expect(await statusOf(['host', `rebound.example:${port}`])).toBe(403);
  expect(await statusOf(['host', host], ['host', host])).toBe(403);
  expect(await statusOf(['origin', 'null'])).toBe(403);
  expect(await statusOf(['sec-fetch-site', 'cross-site'])).toBe(403);
  expect(await statusOf(['host', `LocalHost:${port}`])).not.toBe(403);
});

it('KMS reads an existing key from a file that only its owner can read, once of an older state, and refuses unsupported kinds', async () => {
  const { Mac } = await generateMac(mac);
  createMac(mac, { logicalId: 'Mac' });
  expect((await generateMac('mac')).Mac).toEqual(Mac);
  expect(statSync(join(folder(), 'mac.json')).mode & 0o777).toBe(0o600);
  renameSync(join(folder(), 'mac.json'), join(folder(), 'Mac.json'));
  services.keys.share({ arn: mac, directory: folder(), logicalId: 'Mac' });
  createMac(arn('kms:key/other'), { logicalId: 'Mac' });
  expect((await generateMac(mac)).Mac).toEqual(Mac);
  expect((await generateMac('other')).Mac).not.toEqual(Mac);
  expect(() => create(signing, 'RSA_2048', 'SIGN_VERIFY')).toThrow('not supported');
});
