import { LocalCloud } from '../../support/local-cloudformation';
import { first } from '../../support/rows';
import { synthesizeStacks } from '../../support/stacks';
import { deploy, facts, moveOrigin } from './deployed';

/** The steps of "Keeping the address" in docs/runbook.md. */
it('a stack that is deleted and created again keeps its address, by adopting it', async () => {
  const original = await deploy();
  const { address } = facts(original);
  original.stack.delete();
  await original.stop();
  expect(facts(original)).toMatchObject({ address, heldBy: undefined, gateways: [] });

  const [left] = original.account.addresses.values();
  const adoptedElasticIp = { allocationId: left?.allocationId ?? '', address: left?.address ?? '' };
  const stacks = synthesizeStacks([{ ...first, adoptedElasticIp }]);
  const second = await LocalCloud.start(first.stackId, stacks[first.name]?.json, original.account);
  expect(second.stack.output('WebhookOriginAddress')).toBe(address);
  expect(second.account.addresses.size).toBe(1);
  expect(facts(second)).toMatchObject({ address, egress: address, zones: [first.zones[0]] });

  expect((await moveOrigin(second, '--zone', '3', '--yes')).exitCode).toBe(0);
  expect(facts(second)).toMatchObject({ address, egress: address, zones: [first.zones[2]] });

  second.stack.delete();
  await second.stop();
  expect(facts(second)).toMatchObject({ address, heldBy: undefined });
});
