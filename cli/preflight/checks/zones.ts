import { type Check, failed, ok } from '../check';

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AvailabilityZone.html */
export const zones: Check = {
  id: 'zones',
  title: 'availability zones',
  scope: 'stack',
  async ask({ stack, clientSettings, call }) {
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
    const states = new Map(AvailabilityZones.map(({ ZoneName, State }) => [ZoneName, State]));
    const wrong = stack.zones
      .filter((zone) => states.get(zone) !== 'available')
      .map((zone) => `${zone} is ${states.get(zone) ?? 'not there'}`);
    if (wrong.length === 0) return ok(`${stack.zones.join(', ')} are available`);
    const available = [...states].flatMap(([zone, state]) => (state === 'available' ? [zone] : []));
    return failed(
      wrong.join(', '),
      `The account has ${available.join(', ') || 'none'}. Name others in lib/environments.ts before the first deployment; after it, wait until the zone is back.`,
    );
  },
};
