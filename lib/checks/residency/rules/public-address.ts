import { isAbsentOr, isOff, isOneOf, propertyRule } from '../property-rule';

/** Public addresses beside the NAT gateway's. */
export const publicAddress = propertyRule({
  id: 'public-address',
  refuses: 'A public address beside the one of the NAT gateway',
  remedy: 'Leave it without a public address; what must reach the internet goes through the NAT gateway.',
  types: [/^AWS::EC2::EIPAssociation$/],
  checks: [
    { type: 'AWS::EC2::EIP', path: 'InstanceId', accepts: isOff },
    { named: /^(mapPublicIpOnLaunch|publiclyAccessible|associatePublicIpAddress)$/i, accepts: isOff },
    { named: /^assignPublicIp$/i, accepts: isAbsentOr(isOneOf('DISABLED')) },
  ],
});
