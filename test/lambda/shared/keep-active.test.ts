import { bind } from '../../../lambda/shared/bind';
import { keepActiveEvent } from '../../../lambda/shared/environment';

it('ends an event that keeps the function active, and counts it in the log alone', async () => {
  const events: unknown[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = { info: (_: string, line: object) => void lines.push({ ...line }) } as never;
  const handler = bind(
    () => async (event: unknown) => events.push(event),
    () => ({ log }),
  );
  expect(await handler(keepActiveEvent)).toBeUndefined();
  expect(events).toEqual([]);
  expect(lines).toEqual([
    {
      logCode: 'KEPT_ACTIVE',
      KeptActive: 1,
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          {
            Namespace: 'WalletFunctions',
            Dimensions: [['service']],
            Metrics: [{ Name: 'KeptActive', Unit: 'Count' }],
          },
        ],
      },
    },
  ]);
  await handler({ Records: [] });
  expect(events).toEqual([{ Records: [] }]);
});
