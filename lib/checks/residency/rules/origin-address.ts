import { isAbsent, isAbsentOr, isOneOf, propertyRule } from '../property-rule';
import { type Finding, findingOf, type Rule } from '../rule';
import type { Template } from '../template';

const elasticIpType = 'AWS::EC2::EIP';
const natGatewayType = 'AWS::EC2::NatGateway';

const single = propertyRule({
  id: 'nat-count',
  refuses: 'Not the number of NAT gateways that the stack has: one where it serves, none where it stands by',
  remedy: 'Send everything through the one webhook origin gateway, zonal and with the one address.',
  checks: [
    { type: natGatewayType, path: 'AvailabilityMode', accepts: isAbsentOr(isOneOf('zonal')) },
    { type: natGatewayType, path: 'SecondaryAllocationIds', accepts: isAbsent },
    { type: natGatewayType, path: 'AvailabilityZoneAddresses', accepts: isAbsent },
  ],
});

/**
 * One address that receivers can rely on: one gateway, zonal, without further addresses, and no spare Elastic IP but the
 * reserve that the row asks for.
 */
export const natCount: Rule = {
  ...single,
  *find(template) {
    yield* miscounted(template);
    yield* single.find(template);
  },
};

function* miscounted({ boundary, resources }: Template): Generator<Finding> {
  const gateways = resources.filter(({ type }) => type === natGatewayType);
  if (gateways.length < boundary.natGateways) {
    yield { location: 'Resources', value: `${gateways.length} NAT gateways` };
  }
  yield* gateways.slice(boundary.natGateways).map(findingOf);
  // An adopted address is no resource of the stack, so there may be fewer.
  yield* resources
    .filter(({ type }) => type === elasticIpType)
    .slice(boundary.elasticIps ?? boundary.natGateways)
    .map(findingOf);
}

/**
 * The address is a promise to receivers: it outlives its resource and its stack. One that a first deployment made before it
 * failed was promised to nobody, and may go with it (`RetainExceptOnCreate`).
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
export const elasticIpRetained: Rule = {
  id: 'elastic-ip-not-retained',
  refuses: 'An Elastic IP that is given back with its stack or its replacement',
  remedy: 'Set DeletionPolicy to Retain or RetainExceptOnCreate, and UpdateReplacePolicy to Retain.',
  *find({ resources }) {
    for (const { type, logicalId, deletionPolicy, updateReplacePolicy } of resources) {
      if (type !== elasticIpType) continue;
      if (deletionPolicy !== 'Retain' && deletionPolicy !== 'RetainExceptOnCreate') {
        yield { logicalId, location: 'DeletionPolicy', value: deletionPolicy };
      }
      if (updateReplacePolicy !== 'Retain') {
        yield { logicalId, location: 'UpdateReplacePolicy', value: updateReplacePolicy };
      }
    }
  },
};
