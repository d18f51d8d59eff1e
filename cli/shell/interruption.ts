/** Ctrl-C, termination, and a closed terminal. */
export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Lets a command clean up at Ctrl-C. A second Ctrl-C exits at once. */
export function awaitInterruption() {
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
