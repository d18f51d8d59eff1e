import timers from 'node:timers';

/** In the tests of a file, a wait of a command takes no time, and moves the clock by a minute. @param start milliseconds. @default - now */
export function useInstantWaits(start?: number): void {
  // All but the clock.
  const doNotFake = ['nextTick', 'queueMicrotask', ...Object.keys(timers)] as never[];
  beforeEach(() => {
    jest.useFakeTimers({ now: start ?? Date.now(), doNotFake });
    jest.spyOn(timers.promises, 'setTimeout').mockImplementation(async (_, value, options) => {
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
