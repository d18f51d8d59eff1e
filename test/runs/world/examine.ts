import { allSettledOrThrow } from '../../../local/cleanup';
import type { Steps } from '../harness/steps';
import { type HeldMessages, holdMessages, type MessageReceiver, replayMessages } from './messages';
import type { RunningProject } from './project';

export interface ExaminationOptions {
  /** Begins the names of the checks. */
  readonly name: string;
  readonly receiver: MessageReceiver;
  /** What another release left on the queues. */
  readonly queued: readonly HeldMessages[];
  /** The release's own end-to-end tests; none are left out. */
  readonly tests: readonly string[];
}

/** Checks that a release serves its callers: by messages that wait, by its own `smoke`, and by its own tests. */
export async function examine(
  steps: Steps,
  running: RunningProject,
  { name, receiver, queued, tests }: ExaminationOptions,
): Promise<void> {
  // An environment may be new, or gone.
  const known = queued.filter(({ environment }) => running.environments.includes(environment));
  if (known.length > 0)
    await steps.check(`${name}: delivers what was queued before it`, () =>
      allSettledOrThrow(known.map((held) => replayMessages(running, held, receiver))),
    );
  await steps.check(`${name}: smoke`, () =>
    allSettledOrThrow(running.environments.map((environment) => running.wallet(environment, 'smoke'))),
  );
  if (tests.length > 0) await steps.check(`${name}: ${tests.join(', ')}`, () => running.test(...tests));
}

/** Has messages made in every environment, and gives them as they wait. */
export const leaveMessages = (
  steps: Steps,
  running: RunningProject,
  { name, receiver }: Pick<ExaminationOptions, 'name' | 'receiver'>,
): Promise<readonly HeldMessages[] | undefined> =>
  steps.check(`${name}: leaves messages on the queues`, () =>
    allSettledOrThrow(
      running.environments.map((environment) => holdMessages(running, environment, receiver)),
    ),
  );
