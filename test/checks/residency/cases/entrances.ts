import type { Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as origins from 'aws-cdk-lib/aws-cloudfront-origins';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as elb from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { only } from '../refusals';
import { type RuleCases, refusedProperty, refusedType } from './case';

const apiWith = (type: apigateway.EndpointType) => (stack: Stack) => {
  new apigateway.RestApi(stack, 'Api', { endpointTypes: [type], cloudWatchRole: false }).root.addMethod(
    'GET',
  );
};

export const notRegionalEndpoint: RuleCases = {
  hostile: {
    'an edge-optimized API': {
      build: apiWith(apigateway.EndpointType.EDGE),
      path: 'Test/Api/Resource',
      refusal: 'Properties.EndpointConfiguration.Types is ["EDGE"]',
    },
    'an API without a type, which is edge-optimized': refusedProperty(
      'AWS::ApiGateway::RestApi',
      { Name: 'api' },
      'EndpointConfiguration.Types',
    ),
    'an edge-optimized domain name': refusedProperty('AWS::ApiGateway::DomainName', {
      EndpointConfiguration: { Types: ['REGIONAL', 'EDGE'] },
    }),
  },
  harmless: {
    'a regional API': { build: apiWith(apigateway.EndpointType.REGIONAL) },
    'a private API': {
      build: only('AWS::ApiGateway::RestApi', { EndpointConfiguration: { Types: ['PRIVATE'] } }),
    },
  },
};

export const edgeService: RuleCases = {
  hostile: {
    'a distribution': {
      build: (stack) =>
        new cloudfront.Distribution(stack, 'Edge', {
          defaultBehavior: { origin: new origins.HttpOrigin('wallet.example') },
        }),
      path: 'Test/Edge/Resource',
      refusal: 'Type is "AWS::CloudFront::Distribution"',
    },
    'a web ACL for the edge': refusedProperty('AWS::WAFv2::WebACL', { Scope: 'CLOUDFRONT' }),
    'an accelerator': refusedType('AWS::GlobalAccelerator::Accelerator', { Name: 'a' }),
    'a bucket reached through the edge': {
      build: (stack) => new s3.Bucket(stack, 'Bucket', { transferAcceleration: true }),
      path: 'Test/Bucket/Resource',
      refusal: 'Properties.AccelerateConfiguration is {"AccelerationStatus":"Enabled"}',
    },
  },
  harmless: { 'a web ACL for the region': { build: only('AWS::WAFv2::WebACL', { Scope: 'REGIONAL' }) } },
};

const inline = {
  runtime: lambda.Runtime.NODEJS_24_X,
  handler: 'index.handler',
  code: lambda.Code.fromInline('exports.handler = () => {};'),
};

const functionUrl = (authType: lambda.FunctionUrlAuthType) => (stack: Stack) => {
  new lambda.Function(stack, 'Function', inline).addFunctionUrl({ authType });
};

export const publicEndpoint: RuleCases = {
  hostile: {
    'a function URL for everybody': {
      build: functionUrl(lambda.FunctionUrlAuthType.NONE),
      path: 'Test/Function/FunctionUrl/Resource',
      refusal: 'Properties.AuthType is "NONE"',
    },
    'an internet-facing load balancer': {
      build: (stack) => {
        const vpc = new ec2.Vpc(stack, 'Vpc', { natGateways: 0 });
        new elb.NetworkLoadBalancer(stack, 'Balancer', { vpc: vpc as ec2.IVpc, internetFacing: true });
      },
      path: 'Test/Balancer/Resource',
      refusal: 'Properties.Scheme is "internet-facing"',
    },
    'a load balancer without a scheme, which is internet-facing': refusedProperty(
      'AWS::ElasticLoadBalancingV2::LoadBalancer',
      { Type: 'application' },
      'Scheme',
    ),
    'an HTTP API, which no firewall protects': refusedType('AWS::ApiGatewayV2::Api', {
      Name: 'api',
      ProtocolType: 'HTTP',
    }),
    'a container service that says nothing of who may come': refusedProperty(
      'AWS::AppRunner::Service',
      {},
      'NetworkConfiguration.IngressConfiguration.IsPubliclyAccessible',
    ),
    'a search domain outside of the network': refusedProperty(
      'AWS::OpenSearchService::Domain',
      {},
      'VPCOptions',
    ),
    'a bucket as a website': refusedProperty(
      'AWS::S3::Bucket',
      { WebsiteConfiguration: { IndexDocument: 'index.html' } },
      'WebsiteConfiguration',
    ),
  },
  harmless: {
    'a function URL for signed requests': { build: functionUrl(lambda.FunctionUrlAuthType.AWS_IAM) },
    'an internal load balancer': {
      build: only('AWS::ElasticLoadBalancingV2::LoadBalancer', { Scheme: 'internal' }),
    },
    'a container service for its network alone': {
      build: only('AWS::AppRunner::Service', {
        NetworkConfiguration: { IngressConfiguration: { IsPubliclyAccessible: false } },
      }),
    },
  },
};

export const publicBucket: RuleCases = {
  hostile: {
    'an access control list for everybody': refusedProperty('AWS::S3::Bucket', {
      AccessControl: 'PublicRead',
    }),
    'a block that is lifted': {
      build: (stack) =>
        new s3.Bucket(stack, 'Bucket', { blockPublicAccess: s3.BlockPublicAccess.BLOCK_ACLS }),
      path: 'Test/Bucket/Resource',
      refusal: 'Properties.PublicAccessBlockConfiguration.0.BlockPublicPolicy is left out',
    },
  },
  harmless: {
    'a bucket with everything blocked': {
      build: (stack) => new s3.Bucket(stack, 'Bucket', { blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL }),
    },
    'a bucket as S3 makes it': { build: only('AWS::S3::Bucket', {}) },
  },
};
