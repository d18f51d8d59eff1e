import { CfnOutput, Fn, NestedStack, Stack } from 'aws-cdk-lib';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { only, twoRegions } from '../refusals';
import type { RuleCases } from './case';

export const unlistedStack: RuleCases = {
  hostile: {
    'a stack beside the table': {
      build: (stack) => {
        new Stack(stack.node.root as never, 'Edge', { env: { region: 'us-east-1' } });
      },
      path: 'Edge',
      at: 'Region',
      value: 'us-east-1',
    },
    'a stack for any region': {
      build: (stack) => {
        new Stack(stack.node.root as never, 'Anywhere');
      },
      path: 'Anywhere',
      at: 'Region',
      value: 'any region',
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
      at: 'Transform',
      value: 'Company::Macro',
    },
    'a macro in a resource': {
      build: only('AWS::SQS::Queue', { Tags: [{ 'Fn::Transform': { Name: 'AWS::Include' } }] }),
      path: 'Test/It',
      at: 'Properties.Tags.0.Fn::Transform',
      value: 'AWS::Include',
    },
    'a stack from elsewhere': {
      build: only('AWS::CloudFormation::Stack', { TemplateURL: 'https://example.com/template.json' }),
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::CloudFormation::Stack',
    },
    'a stack set': {
      build: only('AWS::CloudFormation::StackSet', {}),
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::CloudFormation::StackSet',
    },
  },
  harmless: {
    'a nested stack of this app': {
      build: (stack) => {
        new sqs.Queue(new NestedStack(new NestedStack(stack, 'Nested'), 'Within'), 'Queue');
      },
    },
  },
};

const app = (stack: Stack) => stack.node.root as never;

export const crossStackReference: RuleCases = {
  hostile: {
    'an export': {
      build: (stack) => {
        new CfnOutput(stack, 'Shared', { value: 'x', exportName: 'shared' });
      },
      path: 'Test',
      at: 'Outputs.Shared.Export',
      value: 'shared',
    },
    'an import': {
      build: only('AWS::SQS::Queue', { KmsMasterKeyId: Fn.importValue('shared') }),
      path: 'Test/It',
      at: 'Properties.KmsMasterKeyId.Fn::ImportValue',
      value: 'shared',
    },
    "another stack's output, by name": {
      build: only('AWS::SQS::Queue', { KmsMasterKeyId: Fn.getStackOutput('Other', 'Key', 'eu-west-1') }),
      boundary: twoRegions,
      path: 'Test/It',
      at: 'Properties.KmsMasterKeyId.Fn::GetStackOutput',
      value: 'Other',
    },
    "the library's carrier between regions": {
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
      at: 'Type',
      value: 'Custom::CrossRegionExportReader',
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
