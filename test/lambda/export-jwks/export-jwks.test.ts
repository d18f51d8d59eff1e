import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { createHandler } from '../../../lambda/export-jwks/handler';
import { recordLog } from '../../support/log';

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const der = pair.publicKey.export({ format: 'der', type: 'spki' });
const handlerFor = (getPublicKey: (arn: string) => Promise<Uint8Array>) =>
  createHandler({ log: recordLog(), getPublicKey });

const create = (keys: unknown) =>
  ({
    RequestType: 'Create',
    LogicalResourceId: 'AccessTokenKeys',
    ResourceProperties: { ServiceToken: 'x', Keys: keys },
  }) as unknown as CloudFormationCustomResourceEvent;

const oneKey = [{ Label: '2026-11', Arn: 'arn:aws:kms:eu-central-1:000000000000:key/1' }];

it('exports keys that verify what the private key signed', async () => {
  const answer = await handlerFor(async () => der)(create(oneKey));
  const { keys } = JSON.parse(answer.Data?.Jwks ?? '');
  expect(keys).toHaveLength(1);
  const signature = sign('sha256', Buffer.from('x'), pair.privateKey);
  expect(
    verify('sha256', Buffer.from('x'), createPublicKey({ key: keys[0], format: 'jwk' }), signature),
  ).toBe(true);
  expect(keys[0]).not.toHaveProperty('d');
});

it('keeps its physical id on an update, so that CloudFormation never replaces it', async () => {
  const update = { ...create(oneKey), RequestType: 'Update', PhysicalResourceId: 'first' };
  expect(await handlerFor(async () => der)(update as never)).toMatchObject({ PhysicalResourceId: 'first' });
});

it('asks KMS nothing when it is deleted', async () => {
  const event = { ...create(oneKey), RequestType: 'Delete', PhysicalResourceId: 'first' };
  const refuse = () => Promise.reject(new Error('asked'));
  expect(await handlerFor(refuse)(event as never)).toEqual({ PhysicalResourceId: 'first' });
});

it('fails with the label, the key and the reason', async () => {
  const disabled = Object.assign(new Error('key is disabled'), { name: 'DisabledException' });
  await expect(handlerFor(() => Promise.reject(disabled))(create(oneKey))).rejects.toThrow(
    "The signing key '2026-11' (arn:aws:kms:eu-central-1:000000000000:key/1) could not be exported: DisabledException: key is disabled",
  );
});

it('refuses a key on another curve', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({
    format: 'der',
    type: 'spki',
  });
  await expect(handlerFor(async () => other)(create(oneKey))).rejects.toThrow('ES256 needs EC on P-256');
});

it.each([[undefined], [[]], [[{ Label: 'x' }]], [[null]]])('refuses %j for keys', async (keys) => {
  await expect(handlerFor(async () => der)(create(keys))).rejects.toThrow(/Keys/);
});

it('fits eight keys into the 4 KiB that a custom resource may answer', async () => {
  const keys = Array.from({ length: 8 }, (_, index) => ({ Label: `label-${index}`, Arn: 'arn' }));
  const answer = await handlerFor(async () => der)(create(keys));
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(4096);
});
