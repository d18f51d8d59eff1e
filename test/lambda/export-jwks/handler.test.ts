import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { createAccessTokenVerifier } from '../../../lambda/authorize-request/handler';
import { createHandler } from '../../../lambda/export-jwks/handler';
import { recordLog } from '../../support/log';
import { accessTokenClaims, createSigningKey, issuer, signJwt } from '../../support/tokens';

/** DER, as KMS returns it. */
const derOf = (key: Parameters<typeof createPublicKey>[0]) =>
  createPublicKey(key).export({ format: 'der', type: 'spki' });
const first = createSigningKey();
const der = derOf(first.privateKey);
let pauses: number[];
beforeEach(() => {
  pauses = [];
});

const arnOf = (label: string) => `arn:aws:kms:eu-central-1:000000000000:key/${label}`;
const named = (...labels: string[]) => ({ Keys: labels.map((Label) => ({ Label, Arn: arnOf(Label) })) });
const exportKeys = (
  getPublicKey: (arn: string) => Promise<Uint8Array>,
  event: object = { ResourceProperties: named('first') },
) =>
  createHandler({ log: recordLog(), getPublicKey, pause: async (ms) => pauses.push(ms) })({
    RequestType: 'Create',
    LogicalResourceId: 'AccessTokenKeys',
    ...event,
  } as unknown as CloudFormationCustomResourceEvent);
const error = (name: string) => Object.assign(new Error('reason'), { name });

it('a key is rotated without downtime: one label, then two, then the new one', async () => {
  const second = createSigningKey();
  const keys = new Map([
    [arnOf('first'), first],
    [arnOf('second'), second],
  ]);
  /** Whether tokens of the first and of the second key are accepted. */
  const accepts = async (...labels: string[]) => {
    const getPublicKey = async (arn: string) => derOf((keys.get(arn) ?? first).privateKey);
    const { Data } = await exportKeys(getPublicKey, { ResourceProperties: named(...labels) });
    const verify = createAccessTokenVerifier(JSON.parse(Data?.Jwks ?? ''), issuer, 86_400);
    return [first, second].map((key) => verify(signJwt(key, accessTokenClaims())).ok);
  };
  expect(await accepts('first')).toEqual([true, false]);
  expect(await accepts('second', 'first')).toEqual([true, true]);
  expect(await accepts('second')).toEqual([false, true]);
});

it('exports only public keys, of which eight fit into a response of 4 KiB', async () => {
  const ResourceProperties = named(...Array.from({ length: 8 }, (_, index) => `label-${index}`));
  const answer = await exportKeys(async () => der, { ResourceProperties });
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(4096);
  const { keys } = JSON.parse(answer.Data?.Jwks ?? '');
  expect(keys).toHaveLength(8);
  expect(keys[0]).not.toHaveProperty('d');
});

it('keeps its physical id on update and deletion; deletion does not call KMS', async () => {
  const ids = { PhysicalResourceId: 'first' };
  const update = { RequestType: 'Update', ResourceProperties: named('first'), ...ids };
  expect(await exportKeys(async () => der, update)).toMatchObject(ids);
  const refuse = () => Promise.reject(new Error('called'));
  expect(await exportKeys(refuse, { RequestType: 'Delete', ...ids })).toEqual(ids);
});

it('retries while access is denied', async () => {
  const answers = [error('AccessDeniedException'), error('AccessDeniedException')];
  const getPublicKey = async () => {
    const denied = answers.shift();
    if (denied) throw denied;
    return der;
  };
  expect((await exportKeys(getPublicKey)).Data?.Jwks).toContain('P-256');
  expect(pauses).toEqual([2_000, 2_000]);
});

const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
it.each<[string, () => Promise<Uint8Array>, string, number]>([
  ['after 30 s of denied access', () => Promise.reject(error('AccessDeniedException')), 'reason', 15],
  ['for a disabled key', () => Promise.reject(error('DisabledException')), 'DisabledException: reason', 0],
  [
    'for a key on another curve',
    async () => p384.export({ format: 'der', type: 'spki' }),
    'ES256 needs EC on P-256',
    0,
  ],
])('fails with the label, the key and the reason %s', async (_, getPublicKey, reason, retries) => {
  const failure = new RegExp(`The signing key 'first' \\(${arnOf('first')}\\).*${reason}`);
  await expect(exportKeys(getPublicKey)).rejects.toThrow(failure);
  expect(pauses).toHaveLength(retries);
});
