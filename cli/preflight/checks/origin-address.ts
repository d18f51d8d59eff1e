import type { AdoptedElasticIp } from '../../../lib/environment/environment';
import { type Answer, type Check, type Context, failed, ok } from '../check';
import { resourcesOf } from '../plan';

/** An Elastic IP cannot be on two gateways, and one of another account or region cannot be on the stack's. */
export const originAddress: Check = {
  id: 'adopted-address',
  title: 'adopted Elastic IP',
  scope: 'stack',
  async ask(context) {
    const { environment, stack } = context;
    const { adoptedElasticIp, webhookOrigin } = environment;
    const adopted = { adoptedElasticIp, 'webhookOrigin.adoptedReserve': webhookOrigin?.adoptedReserve };
    const serves = resourcesOf(stack, 'AWS::EC2::NatGateway').length > 0;
    const answers: Answer[] = [];
    for (const [property, elasticIp] of Object.entries(adopted))
      if (serves && elasticIp) answers.push(await askFor(elasticIp, property, context));
    return (
      answers.find(({ outcome }) => outcome === 'failed') ??
      ok(answers.map(({ found }) => found).join(', ') || 'the stack adopts none')
    );
  },
};

/** @param property of the row that has it */
async function askFor(
  { allocationId, address }: AdoptedElasticIp,
  property: string,
  { stack, deployedResources, clientSettings, call }: Context,
): Promise<Answer> {
  const { DescribeAddressesCommand, DescribeNatGatewaysCommand, EC2Client } = await import(
    '@aws-sdk/client-ec2'
  );
  const client = new EC2Client(clientSettings);
  const byAllocation = new DescribeAddressesCommand({
    Filters: [{ Name: 'allocation-id', Values: [allocationId] }],
  });
  const { Addresses } = await call('ec2:DescribeAddresses', (options) => client.send(byAllocation, options));
  const found = Addresses?.[0];
  if (found === undefined)
    return failed(
      `the account has no ${allocationId} in ${stack.region}`,
      `Look for the address: aws ec2 describe-addresses --filters Name=public-ip,Values=${address} --region ${stack.region}`,
    );
  if (found.PublicIp !== address)
    return failed(
      `${allocationId} is ${found.PublicIp}, the environment has ${address}`,
      `Correct ${property} in lib/environments.ts: receivers rely on the address.`,
    );
  if (!found.AssociationId) return ok(`${address} (${allocationId}) is free`);

  const own = (await deployedResources()).find(({ type }) => type === 'AWS::EC2::NatGateway');
  const gateways =
    own &&
    (await call('ec2:DescribeNatGateways', (options) =>
      client.send(new DescribeNatGatewaysCommand({ NatGatewayIds: [own.physicalId] }), options),
    ));
  const held = gateways?.NatGateways?.[0]?.NatGatewayAddresses ?? [];
  if (held.some(({ AllocationId }) => AllocationId === allocationId))
    return ok(`${address} (${allocationId}) is on the stack's own gateway ${own?.physicalId}`);
  const holder = found.InstanceId || found.NetworkInterfaceId || found.AssociationId;
  return failed(
    `${address} (${allocationId}) is on ${holder}, not on the stack's gateway`,
    `Free it: "Keeping the address" in docs/runbook.md; what holds it: aws ec2 describe-network-interfaces --filters Name=association.allocation-id,Values=${allocationId} --region ${stack.region}`,
  );
}
