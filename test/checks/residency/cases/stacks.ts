import { CfnOutput, Fn, NestedStack, Stack } from 'aws-cdk-lib';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { only, twoRegions } from '../refusals';
import { type RuleCases, refusedProperty, refusedType } from './case';

export const unlistedStack: RuleCases = {
  hostile: {
    'a stack beside the table': {
      build: (stack) => new Stack(stack.node.root as never, 'Edge', { env: { region: 'us-east-1' } }),
      path: 'Edge',
      refusal: 'Region is "us-east-1"',
    },
    'a stack for any region': {
      build: (stack) => new Stack(stack.node.root as never, 'Anywhere'),
      path: 'Anywhere',
      refusal: 'Region is "any region"',
    },
  },
  harmless: { 'a stack of the table': { build: () => {} } },
};

export const unreadableTemplate: RuleCases = {
  hostile: {
    'a macro over the template': {
      build: (stack) => {
        stack.addTransform('Company::Macro');
      },
      path: 'Test',
      refusal: 'Transform is "Company::Macro"',
    },
    'a macro in a resource': refusedProperty(
      'AWS::SQS::Queue',
      { Tags: [{ 'Fn::Transform': { Name: 'AWS::Include' } }] },
      'Tags.0.Fn::Transform',
    ),
    'a stack from elsewhere': refusedType('AWS::CloudFormation::Stack', {
      TemplateURL: 'https://example.com/template.json',
    }),
    'a stack set': refusedType('AWS::CloudFormation::StackSet'),
  },
  harmless: {
    'a nested stack of this app': {
      build: (stack) => new sqs.Queue(new NestedStack(new NestedStack(stack, 'Nested'), 'Within'), 'Queue'),
    },
  },
};

const app = (stack: Stack) => stack.node.root as never;

export const crossStackReference: RuleCases = {
  hostile: {
    'an export': {
      build: (stack) => new CfnOutput(stack, 'Shared', { value: 'x', exportName: 'shared' }),
      path: 'Test',
      refusal: 'Outputs.Shared.Export is {"Name":"shared"}',
    },
    'an import': refusedProperty('AWS::SQS::Queue', { KmsMasterKeyId: { 'Fn::ImportValue': 'shared' } }),
    "another stack's output, by name": {
      build: only('AWS::SQS::Queue', { KmsMasterKeyId: Fn.getStackOutput('Other', 'Key', 'eu-west-1') }),
      boundary: twoRegions,
      path: 'Test/It',
      refusal: 'Properties.KmsMasterKeyId.Fn::GetStackOutput is {"StackName":"Other',
    },
    "the CDK's carrier between regions": {
      build: (stack) => {
        const other = new Stack(app(stack), 'Other', {
          env: { region: 'eu-west-1' },
          crossRegionReferences: true,
        });
        const key = new kms.Key(other, 'Key');
        new sqs.CfnQueue(stack, 'Queue', { kmsMasterKeyId: key.keyArn });
      },
      boundary: twoRegions,
      path: 'Test/ExportsReader/Resource/Default',
      refusal: 'Type is "Custom::CrossRegionExportReader"',
    },
  },
  harmless: {
    'references within the stack': {
      build: (stack) => {
        const key = new kms.Key(stack, 'Key');
        new sqs.Queue(stack, 'Queue', { encryptionMasterKey: key });
        new CfnOutput(stack, 'KeyArn', { value: key.keyArn });
      },
    },
  },
};
