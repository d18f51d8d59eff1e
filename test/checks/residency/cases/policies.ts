import { Aws, type Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { only } from '../refusals';
import { type RuleCases, refusedProperty } from './case';

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
      refusal: 'Properties.PolicyDocument.Statement is {"Action":["s3:GetObject',
    },
    'a condition that narrows nothing down': {
      build: queuePolicy({ conditions: { Bool: { 'aws:SecureTransport': 'true' } } }),
      path: 'Test/Queue/Policy/Resource',
      refusal:
        'Properties.PolicyDocument.Statement is {"Action":"sqs:SendMessage","Condition":{"Bool":{"aws:SecureTransport',
    },
    'everybody but one': {
      build: queuePolicy({ conditions: { StringNotEquals: { 'aws:SourceAccount': '123456789012' } } }),
      path: 'Test/Queue/Policy/Resource',
      refusal:
        'Properties.PolicyDocument.Statement is {"Action":"sqs:SendMessage","Condition":{"StringNotEquals',
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
          refusal: `Properties.PolicyDocument.Statement is {"Action":"sqs:SendMessage","Condition":${JSON.stringify(conditions)}`,
        },
      ]),
    ),
    'a function that any source may invoke': refusedProperty(
      'AWS::Lambda::Permission',
      {
        Principal: '*',
        Action: 'lambda:InvokeFunction',
        SourceArn: '*',
      },
      'Principal',
    ),
    'a policy as a JSON text': refusedProperty(
      'Custom::Policy',
      {
        Policy: JSON.stringify({ Statement: { Effect: 'Allow', Principal: { AWS: ['*'] }, Action: '*' } }),
      },
      'Policy.Statement',
    ),
    'a function that everybody may invoke': refusedProperty(
      'AWS::Lambda::Permission',
      { Principal: '*', Action: 'lambda:InvokeFunction' },
      'Principal',
    ),
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
    'a denial to everybody': { build: (stack) => new sqs.Queue(stack, 'Queue', { enforceSSL: true }) },
    'a function that one service may invoke': {
      build: only('AWS::Lambda::Permission', {
        Principal: 'apigateway.amazonaws.com',
        Action: 'lambda:InvokeFunction',
      }),
    },
    "the API's own policy": {
      build: (stack) =>
        only('AWS::ApiGateway::RestApi', {
          EndpointConfiguration: { Types: ['REGIONAL'] },
          Policy: { Statement: [{ Effect: 'Allow', Principal: '*', Action: 'execute-api:Invoke' }] },
        })(stack),
    },
  },
};
