import timers from 'node:timers/promises';

/** In the tests of a file, a wait of a command takes no time, and moves the clock by a minute. @param start milliseconds. @default - now */
export function useInstantWaits(start?: number): void {
  beforeEach(() => {
    jest.useFakeTimers({ ...(start !== undefined && { now: start }), doNotFake: [...real] });
    jest.spyOn(timers, 'setTimeout').mockImplementation(async (_, value, options) => {
      options?.signal?.throwIfAborted();
      jest.setSystemTime(Date.now() + 60_000);
      return value as never;
    });
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });
}

/** All but the clock. */
const real = [
  'nextTick',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;
