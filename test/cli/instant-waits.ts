import timers from 'node:timers/promises';

interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** In the tests of a file, a wait of a command takes no time, and moves the clock by a minute. */
export function useInstantWaits(): void {
  const { now } = Date;
  beforeEach(() => {
    let minutes = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + minutes * 60_000);
    jest
      .spyOn(timers, 'setTimeout')
      .mockImplementation(async <T>(_?: number, value?: T, options?: Abortable) => {
        options?.signal?.throwIfAborted();
        minutes += 1;
        return value as T;
      });
  });
  afterEach(() => jest.restoreAllMocks());
}
