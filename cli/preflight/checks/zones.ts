import { type Check, failed, ok, warning } from '../check';

/**
 * All zones of the region, not only the row's: with two of three gone the region itself is in doubt
 * (docs/decisions/loss-of-a-region.md).
 * https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AvailabilityZone.html
 */
export const zones: Check = {
  id: 'zones',
  title: 'availability zones',
  scope: 'stack',
  async ask({ stack, clientSettings, call, deployedStatus }) {
    const { DescribeAvailabilityZonesCommand, EC2Client } = await import('@aws-sdk/client-ec2');
    const client = new EC2Client(clientSettings);
    // Not by ZoneNames: a name that the account does not have would be an error without the names that it has.
    const { AvailabilityZones = [] } = await call('ec2:DescribeAvailabilityZones', (options) =>
      client.send(
        new DescribeAvailabilityZonesCommand({
          Filters: [{ Name: 'zone-type', Values: ['availability-zone'] }],
        }),
        options,
      ),
    );
    const states = new Map(AvailabilityZones.map(({ ZoneName = '', State }) => [ZoneName, State]));
    const wrong = [...new Set([...stack.zones, ...states.keys()])]
      .filter((zone) => states.get(zone) !== 'available')
      .map((zone) => `${zone} is ${states.get(zone) ?? 'not there'}`);
    if (wrong.length === 0) return ok(`all of the region's are available: ${[...states.keys()].join(', ')}`);
    const available = [...states.keys()].filter((zone) => states.get(zone) === 'available');
    const found = `${wrong.join(', ')}; available: ${available.join(', ') || 'none'}`;
    const isMissing = stack.zones.some((zone) => !states.has(zone));
    if (isMissing && (await deployedStatus()) === undefined)
      return failed(found, 'Name zones that the account has in lib/environments.ts.');
    return warning(
      found,
      'Wait for the zones, unless this deployment is the repair: "A zone is gone" in docs/runbook.md.',
    );
  },
};
