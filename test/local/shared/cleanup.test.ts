import { Cleanup } from '../../../local/shared/cleanup';

it('runs nested cleanups, then its steps from the last to the first, and reports every failure after all', async () => {
  const ran: string[] = [];
  const cleanup = new Cleanup();
  const step = (name: string, to = cleanup) =>
    to.add(async () => {
      ran.push(name);
      if (name.startsWith('fails')) throw new Error(name);
    });
  for (const name of ['first', 'fails', 'last']) step(name);
  step('fails nested', cleanup.nested());
  await expect(cleanup.run()).rejects.toThrow(/^fails nested\nfails$/);
  expect(ran).toEqual(['fails nested', 'last', 'fails', 'first']);
  step('added later');
  await cleanup.run().catch(() => undefined);
  expect(ran.slice(4)).toEqual(['added later']);
});
