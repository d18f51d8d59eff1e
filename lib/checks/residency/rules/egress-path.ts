import { isAbsent, isAbsentOr, isOneOf, propertyRule } from '../property-rule';
import { possibleTexts } from '../text';

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

/** Ways by which an AWS service itself sends data to a configured address. */
export const egressPath = propertyRule({
  id: 'egress-path',
  refuses: 'A way out of the region beside the webhook origin',
  remedy: 'Let nothing but the delivery function send anything to an address outside of AWS.',
  checks: [
    // https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
    { type: 'AWS::SNS::Subscription', path: 'Protocol', accepts: isOneOf('email', 'lambda', 'sqs') },
    { type: 'AWS::SNS::Topic', path: 'Subscription.*.Protocol', accepts: isOneOf('email', 'lambda', 'sqs') },
    { type: 'AWS::ApiGateway::Method', path: 'Integration.Type', accepts: integrations },
    // Integrations could be in there.
    { type: 'AWS::ApiGateway::RestApi', path: 'Body', accepts: isAbsent },
    { type: 'AWS::ApiGateway::RestApi', path: 'BodyS3Location', accepts: isAbsent },
    {
      // https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-api-destinations.html
      type: 'AWS::Events::Rule',
      path: 'Targets.*.Arn',
      accepts: (value, template) =>
        possibleTexts(value, template).every((text) => !text.includes(':api-destination/')),
    },
    ...otherNetworks.map((path) => ({ type: 'AWS::EC2::Route', path, accepts: isAbsent })),
  ],
});
