import { Aws, CustomResource, type Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as sns from 'aws-cdk-lib/aws-sns';
import * as subscriptions from 'aws-cdk-lib/aws-sns-subscriptions';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { only } from '../refusals';
import { type RuleCases, refusedProperty, refusedType } from './case';

const elsewhere = 'https://collector.example/';
const method = (integration: apigateway.Integration) => (stack: Stack) => {
  const api = new apigateway.RestApi(stack, 'Api', {
    endpointTypes: [apigateway.EndpointType.REGIONAL],
    cloudWatchRole: false,
  });
  api.root.addMethod('GET', integration);
};

export const egressPath: RuleCases = {
  hostile: {
    'a topic that posts to an address': {
      build: (stack) =>
        new sns.Topic(stack, 'Topic').addSubscription(new subscriptions.UrlSubscription(elsewhere)),
      path: `Test/Topic/${elsewhere.replaceAll('/', '--')}/Resource`,
      refusal: 'Properties.Protocol is "https"',
    },
    'a topic that posts, by its own list': refusedProperty(
      'AWS::SNS::Topic',
      { Subscription: [{ Protocol: 'http', Endpoint: elsewhere }] },
      'Subscription.0.Protocol',
    ),
    'an API that passes requests on': {
      build: method(new apigateway.HttpIntegration(elsewhere)),
      path: 'Test/Api/Default/GET/Resource',
      refusal: 'Properties.Integration.Type is "HTTP_PROXY"',
    },
    'an API that is described in a text': refusedProperty(
      'AWS::ApiGateway::RestApi',
      { Body: { openapi: '3.0.1' }, EndpointConfiguration: { Types: ['REGIONAL'] } },
      'Body',
    ),
    'events to an API destination': refusedProperty(
      'AWS::Events::Rule',
      { Targets: [{ Id: 'one', Arn: 'arn:aws:events:me-central-1:1:api-destination/collector/1' }] },
      'Targets.0.Arn',
    ),
    ...Object.fromEntries(
      ['TransitGatewayId', 'VpcPeeringConnectionId', 'NetworkInterfaceId', 'InstanceId'].map((name) => [
        `a route by ${name}`,
        refusedProperty('AWS::EC2::Route', { RouteTableId: 'rtb-1', [name]: 'x-1' }, name),
      ]),
    ),
  },
  harmless: {
    'a topic that feeds a queue': {
      build: (stack) => {
        const queue = new sqs.Queue(stack, 'Queue');
        new sns.Topic(stack, 'Topic').addSubscription(new subscriptions.SqsSubscription(queue));
      },
    },
    'a method that answers by itself': { build: method(new apigateway.MockIntegration()) },
    'events to a queue': {
      build: (stack) =>
        new events.Rule(stack, 'Rule', {
          schedule: events.Schedule.cron({ hour: '3' }),
          targets: [new targets.SqsQueue(new sqs.Queue(stack, 'Queue'))],
        }),
    },
  },
};

/** Types that take data elsewhere or open an entrance in a way that no rule reads. */
const unjudged: Readonly<Record<string, object>> = {
  'AWS::AppFlow::Flow': {},
  'AWS::AppSync::Api': { Name: 'open' },
  'AWS::Bedrock::ApplicationInferenceProfile': { InferenceProfileName: 'global' },
  'AWS::Bedrock::Guardrail': { CrossRegionConfig: { GuardrailProfileArn: 'apac' } },
  'AWS::DMS::Endpoint': { ServerName: 'collector.example' },
  'AWS::DataSync::LocationObjectStorage': { ServerHostname: 'collector.example' },
  'AWS::EC2::VPNConnection': { CustomerGatewayId: 'cgw-1' },
  'AWS::Elasticsearch::Domain': {},
  'AWS::Events::ApiDestination': { InvocationEndpoint: elsewhere },
  'AWS::KinesisFirehose::DeliveryStream': {
    HttpEndpointDestinationConfiguration: { EndpointConfiguration: { Url: elsewhere } },
  },
  'AWS::Lightsail::Instance': { BundleId: 'small' },
  'AWS::MWAA::Environment': { WebserverAccessMode: 'PUBLIC_ONLY' },
  'AWS::NetworkManager::VpcAttachment': { CoreNetworkId: 'core-1' },
  'AWS::OpenSearchServerless::SecurityPolicy': { Policy: '[{"AllowFromPublic":true}]' },
  'AWS::SageMaker::NotebookInstance': { InstanceType: 'ml.t3.medium' },
  'AWS::SecurityHub::AggregatorV2': { RegionLinkingMode: 'ALL_REGIONS' },
  'AWS::ServiceCatalog::CloudFormationProvisionedProduct': { ProductName: 'unread' },
  'AWS::StepFunctions::StateMachine': { DefinitionString: '{}' },
  'AWS::Transfer::Connector': { Url: 'sftp://collector.example' },
  'MongoDB::Atlas::Cluster': { RegionName: 'ME_CENTRAL' },
};

export const unknownType: RuleCases = {
  hostile: Object.fromEntries(
    Object.entries(unjudged).map(([type, properties]) => [type, refusedType(type, properties)]),
  ),
  harmless: {
    'a queue': { build: only('AWS::SQS::Queue', {}) },
    "what a stack's own function makes": {
      build: (stack) => {
        const serviceToken = `arn:aws:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:function:own`;
        new CustomResource(stack, 'Own', { serviceToken });
        new CustomResource(stack, 'Named', { serviceToken, resourceType: 'Custom::Named' });
      },
    },
  },
};
