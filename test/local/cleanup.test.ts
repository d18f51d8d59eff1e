import { Cleanup } from '../../local/cleanup';

test('steps run in reverse order, even after a failure', async () => {
  const cleanup = new Cleanup();
  const undone: string[] = [];
  cleanup.add(async () => void undone.push('first'));
  cleanup.add(() => Promise.reject(new Error('second fails')));
  cleanup.add(async () => void undone.push('third'));
  await expect(cleanup.run()).rejects.toThrow('second fails');
  expect(undone).toEqual(['third', 'first']);
});

test('a step added during or after a run is part of the next run', async () => {
  const cleanup = new Cleanup();
  const undone: string[] = [];
  cleanup.add(async () => void undone.push('early'));
  const first = cleanup.run();
  await first;
  cleanup.add(async () => void undone.push('late'));
  await Promise.all([cleanup.run(), cleanup.run()]);
  expect(undone).toEqual(['early', 'late']);
});
