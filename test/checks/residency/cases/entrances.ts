import { Aws, CfnResource, type Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as origins from 'aws-cdk-lib/aws-cloudfront-origins';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as elb from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { only } from '../refusals';
import type { RuleCases } from './case';

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
      at: 'Properties.EndpointConfiguration.Types',
      value: 'EDGE',
    },
    'an API without a type, which is edge-optimized': {
      build: only('AWS::ApiGateway::RestApi', { Name: 'api' }),
      path: 'Test/It',
      at: 'Properties.EndpointConfiguration.Types',
      value: 'left out',
    },
    'an edge-optimized domain name': {
      build: only('AWS::ApiGateway::DomainName', { EndpointConfiguration: { Types: ['REGIONAL', 'EDGE'] } }),
      path: 'Test/It',
      at: 'Properties.EndpointConfiguration.Types',
      value: 'EDGE',
    },
  },
  harmless: {
    'a regional API': { build: apiWith(apigateway.EndpointType.REGIONAL) },
    'a private API': {
      build: only('AWS::ApiGateway::RestApi', { EndpointConfiguration: { Types: ['PRIVATE'] } }),
    },
  },
};

const webAcl = (scope: string) => only('AWS::WAFv2::WebACL', { Scope: scope });

export const edgeService: RuleCases = {
  hostile: {
    'a distribution': {
      build: (stack) => {
        new cloudfront.Distribution(stack, 'Edge', {
          defaultBehavior: { origin: new origins.HttpOrigin('wallet.example') },
        });
      },
      path: 'Test/Edge/Resource',
      at: 'Type',
      value: 'AWS::CloudFront::Distribution',
    },
    'a web ACL for the edge': {
      build: webAcl('CLOUDFRONT'),
      path: 'Test/It',
      at: 'Properties.Scope',
      value: 'CLOUDFRONT',
    },
    'an accelerator': {
      build: only('AWS::GlobalAccelerator::Accelerator', { Name: 'a' }),
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::GlobalAccelerator::Accelerator',
    },
    'a bucket reached through the edge': {
      build: (stack) => {
        new s3.Bucket(stack, 'Bucket', { transferAcceleration: true });
      },
      path: 'Test/Bucket/Resource',
      at: 'Properties.AccelerateConfiguration',
      value: 'Enabled',
    },
  },
  harmless: { 'a web ACL for the region': { build: webAcl('REGIONAL') } },
};

const inline = {
  runtime: lambda.Runtime.NODEJS_24_X,
  handler: 'index.handler',
  code: lambda.Code.fromInline('exports.handler = () => {};'),
};

const functionUrl = (authType: lambda.FunctionUrlAuthType) => (stack: Stack) => {
  new lambda.Function(stack, 'Function', inline).addFunctionUrl({ authType });
};

/** A load balancer in subnets without a route to the internet. */
const loadBalancer = (scheme: object) => only('AWS::ElasticLoadBalancingV2::LoadBalancer', scheme);

export const publicEndpoint: RuleCases = {
  hostile: {
    'a function URL for everybody': {
      build: functionUrl(lambda.FunctionUrlAuthType.NONE),
      path: 'Test/Function/FunctionUrl/Resource',
      at: 'Properties.AuthType',
      value: 'NONE',
    },
    'an internet-facing load balancer': {
      build: (stack) => {
        const vpc = new ec2.Vpc(stack, 'Vpc', { natGateways: 0 });
        new elb.NetworkLoadBalancer(stack, 'Balancer', { vpc: vpc as ec2.IVpc, internetFacing: true });
      },
      path: 'Test/Balancer/Resource',
      at: 'Properties.Scheme',
      value: 'internet-facing',
    },
    'a load balancer without a scheme, which is internet-facing': {
      build: loadBalancer({ Type: 'application' }),
      path: 'Test/It',
      at: 'Properties.Scheme',
      value: 'left out',
    },
    'an HTTP API, which no firewall protects': {
      build: only('AWS::ApiGatewayV2::Api', { Name: 'api', ProtocolType: 'HTTP' }),
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::ApiGatewayV2::Api',
    },
    'a container service that says nothing of who may come': {
      build: only('AWS::AppRunner::Service', {}),
      path: 'Test/It',
      at: 'Properties.NetworkConfiguration.IngressConfiguration.IsPubliclyAccessible',
      value: 'left out',
    },
    'a search domain outside of the network': {
      build: only('AWS::OpenSearchService::Domain', {}),
      path: 'Test/It',
      at: 'Properties.VPCOptions',
      value: 'left out',
    },
    'a bucket as a website': {
      build: only('AWS::S3::Bucket', { WebsiteConfiguration: { IndexDocument: 'index.html' } }),
      path: 'Test/It',
      at: 'Properties.WebsiteConfiguration',
      value: 'index.html',
    },
  },
  harmless: {
    'a function URL for signed requests': { build: functionUrl(lambda.FunctionUrlAuthType.AWS_IAM) },
    'an internal load balancer': { build: loadBalancer({ Scheme: 'internal' }) },
    'a container service for its network alone': {
      build: only('AWS::AppRunner::Service', {
        NetworkConfiguration: { IngressConfiguration: { IsPubliclyAccessible: false } },
      }),
    },
  },
};

export const publicBucket: RuleCases = {
  hostile: {
    'an access control list for everybody': {
      build: only('AWS::S3::Bucket', { AccessControl: 'PublicRead' }),
      path: 'Test/It',
      at: 'Properties.AccessControl',
      value: 'PublicRead',
    },
    'a block that is lifted': {
      build: (stack) => {
        new s3.Bucket(stack, 'Bucket', { blockPublicAccess: s3.BlockPublicAccess.BLOCK_ACLS });
      },
      path: 'Test/Bucket/Resource',
      at: 'Properties.PublicAccessBlockConfiguration.0.BlockPublicPolicy',
      value: '',
    },
  },
  harmless: {
    'a bucket with everything blocked': {
      build: (stack) => {
        new s3.Bucket(stack, 'Bucket', { blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL });
      },
    },
    'a bucket as S3 makes it': { build: only('AWS::S3::Bucket', {}) },
  },
};

const queuePolicy = (statement: iam.PolicyStatementProps) => (stack: Stack) => {
  new sqs.Queue(stack, 'Queue').addToResourcePolicy(
    new iam.PolicyStatement({
      actions: ['sqs:SendMessage'],
      resources: ['*'],
      principals: [new iam.AnyPrincipal()],
      ...statement,
    }),
  );
};

export const publicPolicy: RuleCases = {
  hostile: {
    'a bucket that everybody reads': {
      build: (stack) => {
        const bucket = new s3.Bucket(stack, 'Bucket', { publicReadAccess: false });
        bucket.grantRead(new iam.AnyPrincipal());
      },
      path: 'Test/Bucket/Policy/Resource',
      at: 'Properties.PolicyDocument.Statement',
      value: 's3:GetObject',
    },
    'a condition that narrows nobody down': {
      build: queuePolicy({ conditions: { Bool: { 'aws:SecureTransport': 'true' } } }),
      path: 'Test/Queue/Policy/Resource',
      at: 'Properties.PolicyDocument.Statement',
      value: 'aws:SecureTransport',
    },
    'everybody but one': {
      build: queuePolicy({ conditions: { StringNotEquals: { 'aws:SourceAccount': '123456789012' } } }),
      path: 'Test/Queue/Policy/Resource',
      at: 'Properties.PolicyDocument.Statement',
      value: 'StringNotEquals',
    },
    ...Object.fromEntries(
      [
        { StringLike: { 'aws:PrincipalArn': '*' } },
        { ArnLike: { 'aws:PrincipalArn': 'arn:aws:iam::*:*' } },
        { StringLike: { 'aws:PrincipalOrgID': 'o-*' } },
        { StringEquals: { 'aws:SourceAccount': ['123456789012', '*'] } },
        { Null: { 'aws:SourceArn': 'true' } },
        { 'ForAllValues:StringEquals': { 'aws:PrincipalOrgPaths': 'o-a1b2c3/r-1/' } },
      ].map((conditions) => [
        `a condition that anybody fulfils: ${JSON.stringify(conditions)}`,
        {
          build: queuePolicy({ conditions }),
          path: 'Test/Queue/Policy/Resource',
          at: 'Properties.PolicyDocument.Statement',
          value: Object.keys(conditions)[0] as string,
        },
      ]),
    ),
    'a function that any source may invoke': {
      build: only('AWS::Lambda::Permission', {
        Principal: '*',
        Action: 'lambda:InvokeFunction',
        SourceArn: '*',
      }),
      path: 'Test/It',
      at: 'Properties.Principal',
      value: '*',
    },
    'a policy as a JSON text': {
      build: only('Custom::Policy', {
        Policy: JSON.stringify({ Statement: { Effect: 'Allow', Principal: { AWS: ['*'] }, Action: '*' } }),
      }),
      path: 'Test/It',
      at: 'Properties.Policy.Statement',
      value: 'Allow',
    },
    'a function that everybody may invoke': {
      build: only('AWS::Lambda::Permission', { Principal: '*', Action: 'lambda:InvokeFunction' }),
      path: 'Test/It',
      at: 'Properties.Principal',
      value: '*',
    },
  },
  harmless: {
    'everybody narrowed down to one topic': {
      build: queuePolicy({
        conditions: { ArnEquals: { 'aws:SourceArn': 'arn:aws:sns:me-central-1:1:topic' } },
      }),
    },
    'everybody narrowed down to a part of an organization': {
      build: queuePolicy({
        conditions: { 'ForAnyValue:StringLike': { 'aws:PrincipalOrgPaths': ['o-a1b2c3/r-1/*'] } },
      }),
    },
    'everybody narrowed down to the own account': {
      build: queuePolicy({ conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } } }),
    },
    'a denial to everybody': {
      build: (stack) => {
        new sqs.Queue(stack, 'Queue', { enforceSSL: true });
      },
    },
    'a function that one service may invoke': {
      build: only('AWS::Lambda::Permission', {
        Principal: 'apigateway.amazonaws.com',
        Action: 'lambda:InvokeFunction',
      }),
    },
    "the API's own policy": {
      build: (stack) => {
        new CfnResource(stack, 'Api', {
          type: 'AWS::ApiGateway::RestApi',
          properties: {
            EndpointConfiguration: { Types: ['REGIONAL'] },
            Policy: { Statement: [{ Effect: 'Allow', Principal: '*', Action: 'execute-api:Invoke' }] },
          },
        });
      },
    },
  },
};
