import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { createHandler } from '../../../lambda/export-jwks/handler';
import { recordLog } from '../../support/log';

const toDer = (key: KeyObject) => key.export({ format: 'der', type: 'spki' });
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const der = toDer(pair.publicKey);
let pauses: number[];
beforeEach(() => {
  pauses = [];
});

const Arn = 'arn:aws:kms:eu-central-1:000000000000:key/1';
const exportKeys = (
  getPublicKey: () => Promise<Uint8Array>,
  event: object = { ResourceProperties: { Keys: [{ Label: '2026-11', Arn }] } },
) =>
  createHandler({ log: recordLog(), getPublicKey, pause: async (ms) => pauses.push(ms) })({
    RequestType: 'Create',
    LogicalResourceId: 'AccessTokenKeys',
    ...event,
  } as unknown as CloudFormationCustomResourceEvent);
const named = (name: string) => Object.assign(new Error('reason'), { name });

it('exports keys that verify signatures of the private keys; eight fit into a response of 4 KiB', async () => {
  const Keys = Array.from({ length: 8 }, (_, index) => ({ Label: `label-${index}`, Arn }));
  const answer = await exportKeys(async () => der, { ResourceProperties: { Keys } });
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(4096);
  const { keys } = JSON.parse(answer.Data?.Jwks ?? '');
  expect(keys).toHaveLength(8);
  const signature = sign('sha256', Buffer.from('x'), pair.privateKey);
  const key = createPublicKey({ key: keys[0], format: 'jwk' });
  expect(verify('sha256', Buffer.from('x'), key, signature)).toBe(true);
  expect(keys[0]).not.toHaveProperty('d');
});

it('keeps its physical id on update and deletion; deletion does not call KMS', async () => {
  const ids = { PhysicalResourceId: 'first' };
  const ResourceProperties = { Keys: [{ Label: '2026-11', Arn }] };
  const update = { RequestType: 'Update', ResourceProperties, ...ids };
  expect(await exportKeys(async () => der, update)).toMatchObject(ids);
  const refuse = () => Promise.reject(new Error('called'));
  expect(await exportKeys(refuse, { RequestType: 'Delete', ...ids })).toEqual(ids);
});

it('retries while access is denied', async () => {
  let calls = 0;
  const getPublicKey = async () => {
    calls += 1;
    if (calls < 3) throw named('AccessDeniedException');
    return der;
  };
  expect((await exportKeys(getPublicKey)).Data?.Jwks).toContain('P-256');
  expect(pauses).toEqual([2_000, 2_000]);
});

const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
it.each<[string, () => Promise<Uint8Array>, string, number]>([
  ['after 30 s of denied access', () => Promise.reject(named('AccessDeniedException')), 'reason', 15],
  ['of a disabled key', () => Promise.reject(named('DisabledException')), 'DisabledException: reason', 0],
  ['of a key on another curve', async () => toDer(p384), 'ES256 needs EC on P-256', 0],
])('fails with the label, the key and the reason: %s', async (_, getPublicKey, reason, retries) => {
  const failure = new RegExp(`The signing key '2026-11' \\(${Arn}\\).*${reason}`);
  await expect(exportKeys(getPublicKey)).rejects.toThrow(failure);
  expect(pauses).toHaveLength(retries);
});

it.each([[undefined], [[]], [[{ Label: 'x' }]], [[null]]])('refuses %j as keys', async (Keys) => {
  await expect(exportKeys(async () => der, { ResourceProperties: { Keys } })).rejects.toThrow(/Keys/);
});
