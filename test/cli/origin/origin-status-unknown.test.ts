import type { LocalCloud } from '../../support/local-cloudformation';
import { first } from '../../support/rows';
import { wallet } from '../region';
import { deploy } from './deployed';

let cloud: LocalCloud;
beforeAll(async () => {
  cloud = await deploy();
});
afterAll(() => cloud.stop());

const deny = (...denied: readonly string[]) => {
  cloud.fate = ({ action }) => (denied.includes(action) ? 'end-before' : 'serve');
};
const originStatus = (...args: string[]) => wallet('origin-status', '--outputs', cloud.outputs, ...args);
const because = (action: string) => `because ${action} was refused: The command ends here`;
const remedy = (action: string) => `Sign in as someone who has ${action}.`;
const without = (status: Record<string, unknown>, ...keys: string[]) =>
  Object.fromEntries(Object.entries(status).filter(([key]) => !keys.includes(key)));

const cases: readonly [service: string, action: string, what: string, lost: Record<string, unknown>][] = [
  ['cloudformation', 'DescribeStacks', 'status and zone of the stack', { stackStatus: null, zone: null }],
  [
    'cloudformation',
    'ListStackResources',
    'gateway, consumers, queues',
    { gateway: null, availabilityZone: null, consumers: null, queues: null },
  ],
  ['ec2', 'DescribeAddresses', 'Elastic IP', {}],
  ['ec2', 'DescribeNatGateways', 'gateway', { gateway: null, availabilityZone: null }],
  ['ec2', 'DescribeSubnets', 'gateway', { gateway: null, availabilityZone: null }],
  ['lambda', 'GetEventSourceMapping', 'consumers', { consumers: null }],
  [
    'sqs',
    'GetQueueAttributes',
    'messages in WebhookDeliveryQueue',
    {
      queues: expect.arrayContaining([
        { name: 'WebhookDeliveryQueue', waiting: null, later: null, oldest: null },
      ]),
    },
  ],
  [
    'cloudwatch',
    'GetMetricStatistics',
    'age of the oldest in WebhookDeliveryQueue',
    {
      queues: expect.arrayContaining([{ name: 'WebhookDeliveryQueue', waiting: 0, later: 0, oldest: null }]),
    },
  ],
];

it.each(cases)(
  'without %s:%s, tells all else, what it could not learn and why',
  async (service, action, what, lost) => {
    deny();
    const known = JSON.parse((await originStatus('--json')).stdout);
    expect(known.faults).toEqual([]);

    deny(action);
    const { exitCode, stdout, stderr } = await originStatus('--json');
    const { faults, ...status } = JSON.parse(stdout);
    const missing = Object.keys(lost);
    expect(without(status, ...missing)).toEqual(without(known, 'faults', ...missing));
    expect(status).toMatchObject(lost);
    expect(faults).toHaveLength(1);
    const [, facts, reason] = /^unknown: (.*), (because .*)$/.exec(faults[0]) ?? [];
    expect(facts).toContain(what);
    expect(reason).toBe(because(`${service}:${action}`));
    expect(stderr).toBe(
      `warning: ${faults[0]}\nerror: Not everything could be learned.\n${remedy(`${service}:${action}`)}\n`,
    );
    expect(exitCode).toBe(1);
  },
);

it('says in words what is unknown, and names each reason and remedy once', async () => {
  deny('DescribeStacks', 'ListStackResources', 'DescribeAddresses');
  const { exitCode, stdout, stderr } = await originStatus();
  expect(exitCode).toBe(1);
  expect(stdout.split('\n')).toEqual([
    `environment   ${first.name}`,
    `stack         ${first.stackId}`,
    'address       203.0.113.7',
    'zone          unknown',
    'gateway       unknown',
    'consumers     unknown',
    '',
    'queues        unknown',
    '',
  ]);
  expect(stderr.split('\n')).toEqual([
    `warning: unknown: status and zone of the stack, ${because('cloudformation:DescribeStacks')}`,
    `warning: unknown: gateway, consumers, queues, ${because('cloudformation:ListStackResources')}`,
    `warning: unknown: Elastic IP, ${because('ec2:DescribeAddresses')}`,
    'error: Not everything could be learned.',
    remedy('cloudformation:DescribeStacks'),
    remedy('cloudformation:ListStackResources'),
    remedy('ec2:DescribeAddresses'),
    '',
  ]);
});

it('does not take a gateway that it could not ask for as missing', async () => {
  deny('DescribeNatGateways');
  const { stdout } = await originStatus();
  expect(stdout).toMatch(/^gateway {7}unknown$/m);
  expect(stdout).toMatch(/^zone {10}1$/m);
});
