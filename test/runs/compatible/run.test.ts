import { deploymentsFor } from './run';

it('rolls back every migration except irreversible ones', () => {
  const releases = (...migrations: Parameters<typeof deploymentsFor>[0]) =>
    deploymentsFor(migrations).map(({ release }) => release);
  expect(releases()).toEqual(['base', 'change', 'base']);
  expect(releases({ name: '0008-a' })).toEqual(['base', 'change', 'base']);
  expect(releases({ name: '0008-a' }, { name: '0009-b', irreversible: 'secrets' })).toEqual([
    'base',
    'change',
  ]);
});
