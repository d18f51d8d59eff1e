/** Ctrl-C, the signal by which others end a process, and a terminal that was closed. */
export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Interruption {
  readonly signal: AbortSignal;
  /** Leaves Ctrl-C to Node.js again. */
  forget(): void;
}

/** Lets a command end in order at Ctrl-C. The second Ctrl-C ends the process at once, as usual. */
export function awaitInterruption(): Interruption {
  const controller = new AbortController();
  const forget = () => {
    for (const name of endingSignals) process.off(name, interrupt);
  };
  const interrupt = () => {
    forget();
    controller.abort();
  };
  for (const name of endingSignals) process.on(name, interrupt);
  return { signal: controller.signal, forget };
}
