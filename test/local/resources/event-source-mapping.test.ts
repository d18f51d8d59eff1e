import { eventSourceMapping } from '../../../local/resources/event-source-mapping';

const read = (properties: object) =>
  eventSourceMapping('WalletEu', 'M', {
    EventSourceArn: 'arn:aws:sqs:eu-central-1:000000000000:events',
    FunctionName: 'fan-out',
    ...properties,
  });

it('is enabled, and the function answers for a batch as a whole, by default', () => {
  expect(read({})).toEqual({
    queueArn: 'arn:aws:sqs:eu-central-1:000000000000:events',
    functionName: 'fan-out',
    enabled: true,
    reportBatchItemFailures: false,
  });
});

it.each([
  [{ FilterCriteria: { Filters: [] } }, 'WalletEu, M: FilterCriteria is not supported on this machine.'],
  [{ EventSourceArn: 'arn:aws:kinesis:…' }, 'only queues feed functions on this machine'],
])('with %j is refused', (properties, problem) => {
  expect(() => read(properties)).toThrow(problem);
});
