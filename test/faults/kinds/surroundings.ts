import { oneOf } from '../../support/random';
import { type FaultKind, signalProcess } from './kind';

/** Every 300 ms, half of the functions' processes are ended by SIGKILL, whatever they are doing. */
export const functionsKilled: FaultKind = {
  name: 'functions-killed',
  reach: 'all',
  troublesDeletions: true,
  lasts: [2_000, 5_000],
  async begin({ environments }, _places, random) {
    const timer = setInterval(() => {
      for (const pid of environments.functionProcesses()) if (random() < 0.5) signalProcess(pid, 'SIGKILL');
    }, 300);
    return async () => clearInterval(timer);
  },
};

/**
 * Every connection to the queues is reset, those that wait for messages included: some requests are carried out though
 * their answer is lost. The emulator keeps messages in memory, so its own restart would lose them, which SQS never does.
 */
export const queuesReset: FaultKind = {
  name: 'queues-reset',
  reach: 'all',
  troublesDeletions: false,
  losesReaders: true,
  lasts: [2_000, 6_000],
  async begin({ environments }) {
    await environments.resetQueues(true);
    return () => environments.resetQueues(false);
  },
};

/** Requests are answered with 500, 429 or a redirect, slowly, not at all, or by a reset. */
export const receiversMisbehaving: FaultKind = {
  name: 'receivers-misbehaving',
  reach: 'all',
  troublesDeletions: false,
  lasts: [3_000, 8_000],
  async begin({ fickle }) {
    fickle.misbehaves = true;
    return async () => {
      fickle.misbehaves = false;
    };
  },
};

/**
 * The clock of every function is put forward or back, and right again: by minutes, so that no delivery's 72 hours of
 * retries can have passed.
 */
export const clockStepped: FaultKind = {
  name: 'clock-stepped',
  reach: 'all',
  troublesDeletions: true,
  lasts: [2_000, 6_000],
  async begin({ environments }, _places, random) {
    await environments.stepClock(oneOf(random, [-120, -30, 30, 120]));
    return () => environments.stepClock(0);
  },
};
