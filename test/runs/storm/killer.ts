import type { LocalFunction } from '../../../local/lambda/function';

export interface Killer {
  /** So far. */
  readonly kills: () => number;
  start(): void;
  stop(): void;
}

/** Milliseconds after which it looks again when no process was busy. */
const lookAgain = 5;

/** Ends a busy process of the function with SIGKILL, again and again, after random times. */
export function createKiller(
  target: LocalFunction,
  options: { readonly every: number; readonly random: () => number },
): Killer {
  let kills = 0;
  let timer: NodeJS.Timeout | undefined;
  const next = () => {
    timer = setTimeout(strike, -Math.log(1 - options.random()) * options.every);
  };
  const strike = () => {
    const busy = target.instances().filter((instance) => instance.busy);
    const victim = busy[Math.floor(options.random() * busy.length)];
    if (victim?.pid === undefined) {
      timer = setTimeout(strike, lookAgain);
      return;
    }
    process.kill(victim.pid, 'SIGKILL');
    kills += 1;
    next();
  };
  return { kills: () => kills, start: next, stop: () => clearTimeout(timer) };
}
