import timers from 'node:timers/promises';

/** In the tests of a file, a wait of a command takes no time, and moves the clock by a minute. */
export function useInstantWaits(): void {
  const { now } = Date;
  beforeEach(() => {
    let minutes = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + minutes * 60_000);
    jest.spyOn(timers, 'setTimeout').mockImplementation(async (_, value, options) => {
      options?.signal?.throwIfAborted();
      minutes += 1;
      return value as never;
    });
  });
  afterEach(() => jest.restoreAllMocks());
}
