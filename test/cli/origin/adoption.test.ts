import { LocalCloud } from '../../support/local-cloudformation';
import { withoutReserve as row } from '../../support/rows';
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
  const stacks = synthesizeStacks([{ ...row, adoptedElasticIp }]);
  const second = await LocalCloud.start(row.stackId, stacks[row.name]?.json, original.account);
  expect(second.stack.output('WebhookOriginAddress')).toBe(address);
  expect(second.account.addresses.size).toBe(1);
  expect(facts(second)).toMatchObject({ address, egress: address, zones: [row.zones[0]] });

  expect((await moveOrigin(second, '--zone', '3', '--yes')).exitCode).toBe(0);
  expect(facts(second)).toMatchObject({ address, egress: address, zones: [row.zones[2]] });

  second.stack.delete();
  await second.stop();
  expect(facts(second)).toMatchObject({ address, heldBy: undefined });
});
