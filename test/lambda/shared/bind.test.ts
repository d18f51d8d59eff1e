import { bind } from '../../../lambda/shared/bind';
import { keepActiveEvent } from '../../../lambda/shared/environment';
import { recordLog } from '../../support/log';

it('counts an event that keeps the function active in the log, and does not handle it', async () => {
  const log = recordLog();
  const handle = jest.fn();
  const createDependencies = jest.fn(() => ({ log }));
  const handler = bind(() => handle, createDependencies);
  for (const event of [keepActiveEvent, { Records: [] }]) await handler(event);
  expect(createDependencies).toHaveBeenCalledTimes(1);
  expect(handle.mock.calls).toEqual([[{ Records: [] }]]);
  const Metrics = [{ Name: 'KeptActive', Unit: 'Count' }];
  const metrics = [{ Namespace: 'WalletFunctions', Dimensions: [['service']], Metrics }];
  const _aws = { Timestamp: expect.any(Number), CloudWatchMetrics: metrics };
  expect(log.lines).toEqual([{ message: 'Kept active', logCode: 'KEPT_ACTIVE', KeptActive: 1, _aws }]);
});
