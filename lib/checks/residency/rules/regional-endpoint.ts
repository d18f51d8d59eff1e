import { type Accepts, isAbsentOr, isOneOf, propertyRule } from '../property-rule';

const isType = isOneOf('REGIONAL', 'PRIVATE');

const isListOfTypes: Accepts = (value, template) =>
  Array.isArray(value) && value.length > 0 && value.every((type) => isType(type, template));

/**
 * An edge-optimized endpoint, the default where none is chosen, takes requests through CloudFront, all over the world.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-api-endpoint-types.html
 */
export const notRegionalEndpoint = propertyRule({
  id: 'endpoint-not-regional',
  refuses: 'An API endpoint that is not regional',
  remedy: 'Set the type of the endpoint to REGIONAL, and to that alone.',
  checks: [
    { type: 'AWS::ApiGateway::RestApi', path: 'EndpointConfiguration.Types', accepts: isListOfTypes },
    { type: 'AWS::ApiGateway::DomainName', path: 'EndpointConfiguration.Types', accepts: isListOfTypes },
    {
      type: 'AWS::ApiGatewayV2::DomainName',
      path: 'DomainNameConfigurations.*.EndpointType',
      accepts: isAbsentOr(isType),
    },
  ],
});
