import { first } from '../support/rows';
import { type Answer, refusal, startAwsEndpoint } from './aws-endpoint';
import { wallet } from './region';

jest.mock('node:timers/promises', () => ({
  ...jest.requireActual('node:timers/promises'),
  setTimeout: () => Promise.resolve(),
}));

let aws: Awaited<ReturnType<typeof startAwsEndpoint>>;
beforeAll(async () => {
  aws = await startAwsEndpoint(() => ({ [first.stackId]: { OperationsFunctionName: 'operations' } }));
});
afterAll(() => aws.close());

const ok: Answer = { body: JSON.stringify({ ok: true, result: { attempts: [] } }) };
const state = (State: string): Answer => ({ body: JSON.stringify({ State }) });
const initializing = 'Lambda is initializing your function. It will be ready to invoke shortly.';
const pending = refusal('CodeArtifactUserPendingException', initializing, 409);

/** Runs a command, and tells the calls that it made. */
async function deliveries(invocations: readonly Answer[], states: readonly Answer[]) {
  const calls: string[] = [];
  const [answers, configurations] = [[...invocations], [...states]];
  aws.answer(({ method, url }) => {
    const isInvocation = method === 'POST';
    calls.push(isInvocation ? 'invoke' : url);
    const left = isInvocation ? answers : configurations;
    return left.length > 1 ? left.shift() : left[0];
  });
  return {
    calls,
    printed: await wallet('deliveries', '--event', 'evt_1', '--json', '--outputs', aws.outputs),
  };
}

const configuration = '/2015-03-31/functions/operations/configuration';
const waiting = 'Lambda makes the network interfaces of operations: waiting until it is active …\n';
const done = { exitCode: 0, stdout: '[]\n', stderr: waiting };

it.each<[string, Answer]>([
  ['CodeArtifactUserPendingException', pending],
  ['ResourceNotReadyException', refusal('ResourceNotReadyException', 'The function is inactive.', 502)],
  ['ENINotReadyException', refusal('ENINotReadyException', 'The ENI is not ready.', 502)],
  [
    'ResourceConflictException',
    refusal(
      'ResourceConflictException',
      'The operation cannot be performed at this time. The function is currently in the following state: Pending',
      409,
    ),
  ],
])(
  'after %s, an operation waits until the function is active, and is invoked once more',
  async (_, first) => {
    const { calls, printed } = await deliveries([first, ok], [state('Pending'), state('Active')]);
    expect(printed).toEqual(done);
    expect(calls).toEqual(['invoke', configuration, configuration, 'invoke']);
  },
);

it('invokes again where it may not ask for the state', async () => {
  const { calls, printed } = await deliveries([pending, pending, ok], [refusal('AccessDeniedException')]);
  expect(printed).toEqual(done);
  expect(calls.filter((call) => call === 'invoke')).toHaveLength(3);
});

it('does not wait for another conflict', async () => {
  const conflict = refusal('ResourceConflictException', 'An update is in progress for resource', 409);
  const { calls, printed } = await deliveries([conflict], [state('Active')]);
  expect(printed).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: lambda:InvokeFunction failed: ResourceConflictException: /),
  });
  expect(calls).toEqual(['invoke']);
});

it('gives up after five minutes, and says how to see why', async () => {
  const now = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => {
    const waited = aws.requests.some(({ method }) => method === 'GET');
    return now() + (waited ? 5 * 60_000 : 0);
  });
  const { calls, printed } = await deliveries([pending], [state('Pending')]);
  clock.mockRestore();
  expect(printed).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `${waiting}error: operations is not active after 5 minutes.\nSee why: aws lambda get-function-configuration --function-name operations --region ${first.region} --query '[State,StateReason]'\n`,
  });
  expect(calls).toEqual(['invoke', configuration]);
});
