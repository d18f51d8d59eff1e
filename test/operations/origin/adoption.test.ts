import { LocalCloud } from '../../support/local-cloudformation';
import { environmentLike, synthesizeStacks } from '../../support/stacks';
import { deploy, facts, moveOrigin } from './deployed';

/** The steps of "Keeping the address" in docs/runbook.md. */
it('a stack that is deleted and created again keeps its address, by adopting it', async () => {
  const first = await deploy();
  const { address } = facts(first);
  first.stack.delete();
  await first.stop();
  expect(facts(first)).toMatchObject({ address, heldBy: undefined, gateways: [] });

  const [left] = first.account.addresses.values();
  const adoptedElasticIp = { allocationId: left?.allocationId ?? '', address: left?.address ?? '' };
  const { eu } = synthesizeStacks([environmentLike('eu', { adoptedElasticIp })]);
  const second = await LocalCloud.start('WalletEu', eu?.json, first.account);
  expect(second.stack.output('WebhookOriginAddress')).toBe(address);
  expect(second.account.addresses.size).toBe(1);
  expect(facts(second)).toMatchObject({ address, egress: address, zones: ['eu-central-1a'] });

  expect((await moveOrigin(second, '--zone', '3', '--yes')).exitCode).toBe(0);
  expect(facts(second)).toMatchObject({ address, egress: address, zones: ['eu-central-1c'] });

  second.stack.delete();
  await second.stop();
  expect(facts(second)).toMatchObject({ address, heldBy: undefined });
});
