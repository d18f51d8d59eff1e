import { placeholder, type ResourceTypes } from '../resource';

/** `readApi` reads them once all exist. */
export const apiGatewayResources: ResourceTypes = {
  'AWS::ApiGateway::Authorizer': [
    'AuthorizerResultTtlInSeconds AuthorizerUri IdentitySource Name RestApiId Type',
    placeholder,
  ],
  'AWS::ApiGateway::DomainName': [
    '*',
    ({ logicalId }) => ({ ref: logicalId, attributes: { RegionalDomainName: '127.0.0.1' } }),
  ],
  'AWS::ApiGateway::Method': [
    'AuthorizationType AuthorizerId HttpMethod Integration MethodResponses OperationName ResourceId RestApiId',
    placeholder,
  ],
  'AWS::ApiGateway::RestApi': [
    'Description DisableExecuteApiEndpoint EndpointAccessMode EndpointConfiguration MinimumCompressionSize Name SecurityPolicy Tags',
    (request, context) => {
      const { ref } = placeholder(request, context);
      return { ref, attributes: { RootResourceId: `${ref}-root` } };
    },
  ],
  'AWS::ApiGateway::Stage': [
    'AccessLogSetting DeploymentId MethodSettings RestApiId StageName Tags',
    ({ properties }) => ({ ref: properties.StageName, attributes: {} }),
  ],
};
