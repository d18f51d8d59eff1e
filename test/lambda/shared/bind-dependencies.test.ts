import { bindDependencies } from '../../../lambda/shared/bind-dependencies';
import { keepActiveEvent } from '../../../lambda/shared/variables';
import { recordLog } from '../../support/log';

it('logs an event that keeps the function active, and does not handle it', async () => {
  const log = recordLog();
  const handle = jest.fn();
  const createDependencies = jest.fn(() => ({ log }));
  const handler = bindDependencies(() => handle, createDependencies);
  for (const event of [keepActiveEvent, { Records: [] }]) await handler(event);
  expect(createDependencies).toHaveBeenCalledTimes(1);
  expect(handle.mock.calls).toEqual([[{ Records: [] }]]);
  expect(log.lines).toEqual([{ message: 'Kept active', logCode: 'KEPT_ACTIVE' }]);
});
