import { isAbsent, isAbsentOr, isOneOf, propertyRule } from '../property-rule';
import { textsOf } from '../text';

/** A VPC's routes lead to its gateways alone; each of these leads to another network. */
const otherNetworks = [
  'CarrierGatewayId',
  'CoreNetworkArn',
  'InstanceId',
  'LocalGatewayId',
  'NetworkInterfaceId',
  'TransitGatewayId',
  'VpcEndpointId',
  'VpcPeeringConnectionId',
];

/** Integrations of API Gateway with AWS, or with nothing: `HTTP` and `HTTP_PROXY` send requests anywhere. */
const integrations = isAbsentOr(isOneOf('AWS', 'AWS_PROXY', 'MOCK'));

/** Ways on which a service of AWS itself sends data to an address that somebody has given. */
export const egressPath = propertyRule({
  id: 'egress-path',
  refuses: 'A way out of the region beside the webhook origin',
  remedy: 'Let nothing but the delivery function send anything to an address outside of AWS.',
  checks: [
    // https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
    { type: 'AWS::SNS::Subscription', path: 'Protocol', holds: isOneOf('email', 'lambda', 'sqs') },
    { type: 'AWS::SNS::Topic', path: 'Subscription.*.Protocol', holds: isOneOf('email', 'lambda', 'sqs') },
    { type: 'AWS::ApiGateway::Method', path: 'Integration.Type', holds: integrations },
    // Integrations could be in there.
    { type: 'AWS::ApiGateway::RestApi', path: 'Body', holds: isAbsent },
    { type: 'AWS::ApiGateway::RestApi', path: 'BodyS3Location', holds: isAbsent },
    {
      // https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-api-destinations.html
      type: 'AWS::Events::Rule',
      path: 'Targets.*.Arn',
      holds: (value, template) =>
        textsOf(value, template).every((text) => !text.includes(':api-destination/')),
    },
    ...otherNetworks.map((path) => ({ type: 'AWS::EC2::Route', path, holds: isAbsent })),
  ],
});
