import {
  Aws,
  CfnCondition,
  CfnMapping,
  CfnOutput,
  CfnParameter,
  CfnResource,
  Fn,
  type Stack,
} from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as route53 from 'aws-cdk-lib/aws-route53';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { only, twoRegions } from '../refusals';
import type { Hostile, RuleCases } from './case';

const holder = 'Custom::Holder';

/** A value in a custom resource, refused because of one region. */
const value = (given: unknown, region = 'us-east-1'): Hostile => ({
  build: only(holder, { Value: given }),
  path: 'Test/It',
  refusal: `Properties.Value is "${region} in `,
});

const functionWith = (environment: Record<string, string>) => (stack: Stack) => {
  new lambda.Function(stack, 'It', {
    runtime: lambda.Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: lambda.Code.fromInline('exports.handler = () => {};'),
    environment,
  });
};

const policyOf = (statement: iam.PolicyStatement) => (stack: Stack) => {
  const role = new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
  role.addToPolicy(statement);
};

export const foreignRegion: RuleCases = {
  hostile: {
    'a variable of a function that is called a description': {
      build: functionWith({ BUCKET_DESCRIPTION: 'arn:aws:sqs:us-east-1:1:copies' }),
      path: 'Test/It/Resource',
      refusal:
        'Properties.Environment.Variables.BUCKET_DESCRIPTION is "us-east-1 in arn:aws:sqs:us-east-1:1:copies"',
    },
    'an ARN': value('arn:aws:sqs:us-east-1:123456789012:queue'),
    'an ARN of an unknown region': value('arn:aws:sqs:eu-north-9:123456789012:queue', 'eu-north-9'),
    'an ARN of every region': value('arn:aws:sqs:*:123456789012:queue', '*'),
    'a service principal': value('logs.us-east-1.amazonaws.com'),
    'a hostname': value('https://kms.us-east-1.amazonaws.com/'),
    'an old hostname': value('s3-us-east-1.amazonaws.com'),
    'an availability zone': value('us-east-1c'),
    'a bucket that carries its region': value('cdk-hnb659fds-assets-123456789012-us-east-1'),
    'another case': value('US-EAST-1'),
    'the zones of another region': value(Fn.getAzs('us-east-1')),
    'nested objects and lists': {
      ...value({ A: [{ B: 'us-east-1' }] }),
      refusal: 'Properties.Value.A.0.B is "us-east-1 in us-east-1"',
    },
    'the name of a property': {
      ...value({ 'us-east-1': true }),
      refusal: 'Properties.Value.us-east-1 is "us-east-1 in us-east-1"',
    },
    'a JSON text': value(JSON.stringify({ nested: JSON.stringify({ region: 'us-east-1' }) })),
    'pieces of Fn::Join': value({ 'Fn::Join': ['-', ['arn:aws:sqs:us', 'east', '1:123456789012:queue']] }),
    'Fn::Join within Fn::Join': value({
      'Fn::Join': ['', ['arn:aws:sqs:us-', { 'Fn::Join': ['-', ['east', '1:x:queue']] }]],
    }),
    'pieces around a reference': value({
      'Fn::Join': [':', ['arn', Aws.PARTITION, 'sqs', 'us-east-1', Aws.ACCOUNT_ID]],
    }),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
    'Fn::Sub': value({ 'Fn::Sub': ['arn:aws:sqs:${Area}-1:${AWS::AccountId}:queue', { Area: 'us-east' }] }),
    'a branch of Fn::If': {
      ...value(undefined),
      build: (stack) => {
        const here = new CfnCondition(stack, 'Here', { expression: Fn.conditionEquals(Aws.REGION, 'x') });
        only(holder, {
          Value: Fn.join('-', ['us', Fn.conditionIf(here.logicalId, 'gov', 'east').toString(), '1']),
        })(stack);
      },
    },
    'a mapping': {
      ...value(undefined),
      build: (stack) => {
        const map = new CfnMapping(stack, 'Map', {
          mapping: { buckets: { copy: 'us-east-1', own: 'me-central-1' } },
        });
        only(holder, { Value: map.findInMap('buckets', 'copy') })(stack);
      },
    },
    'an allowed value of a parameter': {
      ...value(undefined),
      build: (stack) => {
        const parameter = new CfnParameter(stack, 'Where', { allowedValues: ['me-central-1', 'us-east-1'] });
        only(holder, { Value: parameter.valueAsString })(stack);
      },
    },
    "an ARN's region by a free parameter": {
      ...value(undefined, '‹parameter Where›'),
      build: (stack) => {
        const parameter = new CfnParameter(stack, 'Where', { default: 'me-central-1' });
        only(holder, { Value: `arn:aws:sqs:${parameter.valueAsString}:x:queue` })(stack);
      },
    },
    "a function's environment variable": {
      build: functionWith({ QUEUE_URL: `https://sqs.us-east-1.${Aws.URL_SUFFIX}/${Aws.ACCOUNT_ID}/queue` }),
      path: 'Test/It/Resource',
      refusal:
        'Properties.Environment.Variables.QUEUE_URL is "us-east-1 in https://sqs.us-east-1.amazonaws.com/',
    },
    "a custom resource's call": {
      build: (stack) =>
        new AwsCustomResource(stack, 'It', {
          onCreate: {
            service: 'SQS',
            action: 'createQueue',
            region: 'us-east-1',
            parameters: { QueueName: 'copies' },
            physicalResourceId: PhysicalResourceId.of('copies'),
          },
          policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: AwsCustomResourcePolicy.ANY_RESOURCE }),
          installLatestAwsSdk: false,
        }),
      path: 'Test/It/Resource/Default',
      refusal: 'Properties.Create is "us-east-1 in ',
    },
    'a permission there': {
      build: policyOf(
        new iam.PolicyStatement({ actions: ['s3:PutObject'], resources: ['arn:aws:sqs:us-east-1:1:queue'] }),
      ),
      path: 'Test/Role/DefaultPolicy/Resource',
      refusal:
        'Properties.PolicyDocument.Statement.0.Resource is "us-east-1 in arn:aws:sqs:us-east-1:1:queue"',
    },
    'an output': {
      build: (stack) => new CfnOutput(stack, 'Copy', { value: 'https://sqs.us-east-1.amazonaws.com/1/copy' }),
      path: 'Test',
      refusal: 'Outputs.Copy.Value is "us-east-1 in https://sqs.us-east-1.amazonaws.com/1/copy"',
    },
    "another environment's region": {
      ...value('arn:aws:sqs:eu-north-1:1:queue', 'eu-north-1'),
      boundary: twoRegions,
    },
  },
  harmless: {
    "the stack's own region, by name and by reference": {
      build: only(holder, {
        Arn: 'arn:aws:sqs:me-central-1:123456789012:queue',
        Reference: `arn:${Aws.PARTITION}:sqs:${Aws.REGION}:${Aws.ACCOUNT_ID}:queue`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
        Substituted: Fn.sub('logs.${AWS::Region}.amazonaws.com ${!us-east}-1'),
        Zone: 'me-central-1a',
      }),
    },
    "the environment's other region": {
      build: only(holder, { Value: 'arn:aws:rds:eu-west-1:1:cluster:copy' }),
      boundary: twoRegions,
    },
    'words that look like a region': {
      build: only(holder, {
        Values: ['bonus-east-1', 'eu-west-10', 'xus-east-1', 'us-east', 'sub-central-1'],
      }),
    },
    'an ARN of a resource of the stack': {
      build: (stack) => {
        const queue = new CfnResource(stack, 'Queue', { type: 'AWS::SQS::Queue' });
        only(holder, {
          Value: queue.getAtt('Arn'),
          Parts: Fn.select(3, Fn.split(':', queue.getAtt('Arn').toString())),
        })(stack);
      },
    },
    'prose: descriptions and tags': {
      build: (stack) => {
        only(holder, {
          Description: 'Not to be copied to us-east-1',
          Tags: [{ Key: 'compared-with', Value: 'us-east-1' }],
        })(stack);
        new CfnOutput(stack, 'Here', { value: 'here', description: 'Unlike us-east-1' });
      },
    },
    "CloudFormation's own metadata": {
      build: (stack) => {
        stack.addMetadata('Compared', 'us-east-1');
        new CfnResource(stack, 'It', { type: holder }).addMetadata('Compared', 'us-east-1');
      },
    },
    IAM: {
      build: policyOf(
        new iam.PolicyStatement({
          actions: ['sts:AssumeRole'],
          resources: ['arn:aws:iam::123456789012:role/other'],
        }),
      ),
    },
    'a statement that forbids': {
      build: policyOf(
        new iam.PolicyStatement({
          effect: iam.Effect.DENY,
          actions: ['*'],
          resources: ['*'],
          conditions: { StringEquals: { 'aws:RequestedRegion': 'us-east-1' } },
        }),
      ),
    },
    'Route 53, whose checkers stand elsewhere': {
      build: (stack) => {
        new route53.PublicHostedZone(stack, 'Zone', { zoneName: 'wallet.example' });
        new route53.CfnHealthCheck(stack, 'Check', {
          healthCheckConfig: { type: 'HTTPS', regions: ['us-east-1', 'eu-west-1', 'sa-east-1'] },
        });
      },
    },
  },
};
