/** What the tests of the file or block that calls it share: made before them, and stopped after them. */
export function useShared<Made extends object>(make: () => Promise<Made & { stop?(): unknown }>): Made {
  const made = {} as Awaited<ReturnType<typeof make>>;
  beforeAll(async () => Object.assign(made, await make()));
  afterAll(() => made.stop?.());
  return made;
}
