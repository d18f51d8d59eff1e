import { Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { twoRegions } from '../refusals';
import { type RuleCases, refusedProperty } from './case';

const type = 'AWS::CloudWatch::Dashboard';
const metrics = [['AWS/SQS', 'NumberOfMessagesSent', 'QueueName', 'events']];

/** A dashboard of one widget whose body is refused for the value at this place. */
const widget = (at: string, properties: object, kind = 'metric') =>
  body(`widgets.0.${at}`, {
    widgets: [{ type: kind, properties: { region: 'me-central-1', ...properties } }],
  });

const body = (at: string, content: object) =>
  refusedProperty(type, { DashboardBody: JSON.stringify(content) }, `DashboardBody.${at}`);

export const dashboardContent: RuleCases = {
  hostile: {
    'log lines': {
      build: (stack) =>
        new cloudwatch.Dashboard(stack, 'It', {
          widgets: [[new cloudwatch.LogQueryWidget({ logGroupNames: ['access'], queryString: 'fields ip' })]],
        }),
      path: 'Test/It/Resource',
      refusal: 'Properties.DashboardBody.widgets.0.type is "log"',
    },
    'what a function returns': widget(
      'type',
      { endpoint: 'arn:aws:lambda:me-central-1:1:function:f' },
      'custom',
    ),
    'whatever has a tag': widget('type', { metrics: [] }, 'explorer'),
    'metrics of a region outside of the list': widget('properties.region', { metrics, region: 'eu-west-1' }),
    'metrics of the region that is looked from': widget('properties.region', { metrics, region: undefined }),
    'metrics of another account': widget('properties.metrics.0.4.accountId', {
      metrics: [[...(metrics[0] as string[]), { accountId: '123456789012' }]],
    }),
    'contributors of log lines': widget('properties.insightRule', { insightRule: { ruleName: 'callers' } }),
    'contributors as a metric': widget('properties.metrics.0.0.expression', {
      metrics: [[{ expression: "INSIGHT_RULE_METRIC('callers', 'UniqueContributors')" }]],
    }),
    "a connector's data": widget('properties.metrics.0.0.expression', {
      metrics: [[{ expression: "LAMBDA('connector', 'select * from organizations')" }]],
    }),
    'values to choose from': body('variables', { variables: [{ type: 'property' }], widgets: [] }),
    'a body that cannot be read': refusedProperty(type, { DashboardBody: 'widgets' }),
  },
  harmless: {
    'metrics, alarms and text': {
      build: (stack) => {
        const queue = new sqs.Queue(stack, 'Queue');
        const metric = queue.metricNumberOfMessagesSent();
        const alarm = metric.createAlarm(stack, 'Alarm', { threshold: 1, evaluationPeriods: 1 });
        const text = new cloudwatch.TextWidget({ markdown: `Messages of ${Stack.of(queue).stackName}` });
        const states = new cloudwatch.AlarmStatusWidget({ alarms: [alarm] });
        const graph = new cloudwatch.GraphWidget({ left: [metric] });
        new cloudwatch.Dashboard(stack, 'It', { widgets: [[text], [states], [graph]] });
      },
    },
    "metrics of the environment's other region": {
      build: (stack) => {
        const left = [
          new cloudwatch.Metric({ namespace: 'AWS/RDS', metricName: 'Lag', region: 'eu-west-1' }),
        ];
        new cloudwatch.Dashboard(stack, 'It', { widgets: [[new cloudwatch.GraphWidget({ left })]] });
      },
      boundary: twoRegions,
    },
  },
};
