import { generateKeyPairSync } from 'node:crypto';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { createHandler } from '../../../lambda/export-jwks/handler';
import { recordLog } from '../../support/log';

/** A public key as KMS returns it. */
const on = (namedCurve: string) => async () =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'der', type: 'spki' });
const arn = 'arn:aws:kms:eu-central-1:000000000000:key/1';
let pauses: number[];
beforeEach(() => {
  pauses = [];
});

const exportKey = (event: object, getPublicKey: () => Promise<Uint8Array>) =>
  createHandler({ log: recordLog(), getPublicKey, pause: async (ms) => pauses.push(ms) })({
    ResourceProperties: { Keys: [{ Label: 'first', Arn: arn }] },
    ...event,
  } as unknown as CloudFormationCustomResourceEvent);

const fails = (name: string) => () => Promise.reject(Object.assign(new Error('reason'), { name }));
const denies = fails('AccessDeniedException');

// test/end-to-end/procedures.test.ts rotates keys.
it('keeps its physical id on update and deletion; deletion does not call KMS', async () => {
  const ids = { PhysicalResourceId: 'first' };
  expect(await exportKey({ RequestType: 'Update', ...ids }, on('P-256'))).toMatchObject(ids);
  expect(await exportKey({ RequestType: 'Delete', ...ids }, denies)).toEqual(ids);
  expect(pauses).toEqual([]);
});

it.each<[string, () => Promise<Uint8Array>, string, number]>([
  ['after 30 s of denied access', denies, 'reason', 15],
  ['for a disabled key', fails('DisabledException'), 'DisabledException: reason', 0],
  ['for a key on another curve', on('P-384'), 'ES256 needs EC on P-256', 0],
])('fails with the label, the key and the reason %s', async (_, getPublicKey, reason, retries) => {
  const failure = new RegExp(`The signing key 'first' \\(${arn}\\).*${reason}`);
  await expect(exportKey({ RequestType: 'Create' }, getPublicKey)).rejects.toThrow(failure);
  expect(pauses).toEqual(Array(retries).fill(2_000));
});
