import fc from 'fast-check';
import { resourceHash, resourceUuid } from '../../../local/resources/names';
import { stubResource } from '../../../local/resources/stub';

it('hashes and UUIDs are the same on every run, and differ between resources, stacks and regions', () => {
  const part = fc.stringMatching(/^[A-Za-z]{1,12}$/);
  fc.assert(
    fc.property(part, part, part, part, (name, region, one, other) => {
      expect(resourceUuid({ name, region }, one)).toBe(resourceUuid({ name, region }, one));
      expect(resourceUuid({ name, region }, one)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      fc.pre(one !== other);
      const hashes = [
        [resourceHash({ name, region }, one), resourceHash({ name, region }, other)],
        [resourceHash({ name: one, region }, name), resourceHash({ name: other, region }, name)],
        [resourceHash({ name, region: one }, region), resourceHash({ name, region: other }, region)],
      ];
      for (const [first, second] of hashes) expect(first).not.toBe(second);
    }),
  );
  // Keys and secrets of an earlier version's state are found by these.
  const stack = { name: 'WalletEu', region: 'eu-central-1' };
  expect(resourceUuid(stack, 'Key')).toBe('0022a14c-a8b9-49f0-85bf-61d60ba61b49');
});

it.each([
  ['AWS::EC2::EIP', 'Some', { ref: '127.0.0.1', attributes: { PublicIp: '127.0.0.1' } }],
  ['AWS::EC2::EIP', 'WebhookOriginReserveElasticIp', { attributes: { PublicIp: '127.0.0.2' } }],
  ['AWS::ApiGateway::DomainName', 'Some', { attributes: { RegionalDomainName: '127.0.0.1' } }],
])('%s %s leads to this machine', (type, logicalId, expected) => {
  const stub = stubResource(
    { name: 'WalletEu', region: 'eu-central-1' },
    { logicalId, type, properties: {} },
  );
  expect(stub).toMatchObject(expected);
});
