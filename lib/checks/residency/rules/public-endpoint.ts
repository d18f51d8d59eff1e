import { type Accepts, isAbsent, isFalse, isOff, isOneOf, propertyRule } from '../property-rule';

const isPresent: Accepts = (value) => value !== undefined;

/** Endpoints on the internet, beside the API. Several are public unless told otherwise. */
export const publicEndpoint = propertyRule({
  id: 'public-endpoint',
  refuses: 'An endpoint that is open to the internet',
  remedy: 'Make it internal; the API is the one thing that answers the internet.',
  // HTTP and WebSocket APIs are always public, and no firewall stands before them:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-vs-rest.html
  types: [/^AWS::ApiGatewayV2::Api$/],
  checks: [
    // Public by default: https://docs.aws.amazon.com/apprunner/latest/api/API_IngressConfiguration.html
    {
      type: 'AWS::AppRunner::Service',
      path: 'NetworkConfiguration.IngressConfiguration.IsPubliclyAccessible',
      accepts: isFalse,
    },
    // Internet-facing by default: https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateLoadBalancer.html
    { type: 'AWS::ElasticLoadBalancingV2::LoadBalancer', path: 'Scheme', accepts: isOneOf('internal') },
    { type: 'AWS::ElasticLoadBalancing::LoadBalancer', path: 'Scheme', accepts: isOneOf('internal') },
    { type: 'AWS::Lambda::Url', path: 'AuthType', accepts: isOneOf('AWS_IAM') },
    { type: 'AWS::DMS::ReplicationInstance', path: 'PubliclyAccessible', accepts: isFalse },
    { type: 'AWS::EKS::Cluster', path: 'ResourcesVpcConfig.EndpointPublicAccess', accepts: isFalse },
    { type: 'AWS::OpenSearchService::Domain', path: 'VPCOptions', accepts: isPresent },
    { type: 'AWS::Transfer::Server', path: 'EndpointType', accepts: isOneOf('VPC', 'VPC_ENDPOINT') },
    { type: 'AWS::AppSync::GraphQLApi', path: 'Visibility', accepts: isOneOf('PRIVATE') },
    { type: 'AWS::S3::Bucket', path: 'WebsiteConfiguration', accepts: isAbsent },
    {
      type: 'AWS::MSK::Cluster',
      path: 'BrokerNodeGroupInfo.ConnectivityInfo.PublicAccess.Type',
      accepts: isOff,
    },
  ],
});
