import { randomUUID } from 'node:crypto';
import { send } from '../../support/api';
import { type Mistake, mistakes } from '../../support/deletion-mistakes';
import type { Checks } from '../harness/checks';
import { oneOf } from '../harness/random';
import {
  type DeletionRequest,
  type DeletionWish,
  inWords,
  replayed,
  signDeletion,
} from '../world/deletion-request';
import type { Place } from '../world/place';
import { type Attempt, usesUp } from './attempt';
import type { CheckName } from './check-names';
import { Flow } from './flow';

export interface DeletionsOptions {
  readonly random: () => number;
  readonly checks: Checks<CheckName>;
}

/** Replays are of these many latest requests. */
const remembered = 200;

type Wanted = Pick<Attempt, 'kind' | 'expected'>;

/** Deletes groups: rightly, with user actions that were used before or are used twice at once, and wrongly. */
export class Deletions {
  readonly attempts: Attempt[] = [];
  /** Each takes a process of its function, and few machines have many cores: hence the width. */
  readonly flow = new Flow({ rate: 5, width: 8 }, () =>
    this.oneBy(this.options.random()).catch((error: Error) => this.holdShape(error.stack)),
  );

  constructor(
    private readonly place: Place,
    private readonly options: DeletionsOptions,
  ) {}

  /** One deletion that is due, sent now. */
  async due(): Promise<Attempt | undefined> {
    const groupId = this.place.groups.take();
    return groupId === undefined ? undefined : this.attempt({ kind: 'due', expected: ['200'] }, { groupId });
  }

  /** The user action of an earlier attempt, sent again for the same group. */
  replay({ groupId, userActionId, signature }: Attempt, expected: readonly string[]): Promise<Attempt> {
    return this.attempt({ kind: 'replayed', expected }, { groupId, userActionId, signature });
  }

  private oneBy(chance: number): Promise<unknown> {
    if (chance < 0.5) return this.due();
    if (chance < 0.65) return this.race();
    return chance < 0.8 ? this.replayOne() : this.refuse(oneOf(this.options.random, mistakes));
  }

  /** One user action sent twice at once: for the same group, or for two, as by a signer that gave out an id twice. */
  private async race(): Promise<void> {
    const { groups } = this.place;
    const one = groups.take();
    const other = this.options.random() < 0.5 ? one : groups.take();
    if (one === undefined || other === undefined) return;
    const userActionId = randomUUID();
    // Both are signed before either is sent.
    const requests = await Promise.all(
      [one, other].map((groupId) => signDeletion(this.place, { groupId, userActionId })),
    );
    const wanted: Wanted = { kind: 'raced', expected: ['200', replayed] };
    await Promise.all(requests.map((request) => this.send(wanted, request)));
  }

  private async replayOne(): Promise<void> {
    const answered = this.attempts.slice(-remembered).filter(({ kind, answer }) => kind === 'due' && answer);
    if (answered.length === 0) return;
    const first = oneOf(this.options.random, answered);
    // One that was refused, or is not known to have been carried out, may still be; but only once.
    await this.replay(first, usesUp(first) ? [replayed] : ['200', replayed]);
  }

  private async refuse(mistake: Mistake): Promise<void> {
    const groupId = this.place.groups.take();
    if (groupId) await this.attempt({ kind: 'refused', expected: [mistake.answer] }, { groupId, mistake });
  }

  private async attempt(wanted: Wanted, wish: DeletionWish): Promise<Attempt> {
    return this.send(wanted, await signDeletion(this.place, wish));
  }

  private async send(wanted: Wanted, { wire, ...request }: DeletionRequest): Promise<Attempt> {
    const environment = this.place.name;
    const attempt: Attempt = { environment, ...wanted, ...request, sentAt: Date.now() };
    this.attempts.push(attempt);
    try {
      const { status, body } = await send(this.place.baseUrl, wire);
      attempt.answer = inWords(status, body.code);
      this.holdShape();
    } catch (error) {
      attempt.answer = 'none';
      this.holdShape((error as Error).message);
    }
    attempt.answeredAt = Date.now();
    return attempt;
  }

  /** An undocumented answer, or none, is a violation in every fault. */
  private holdShape(problem?: string): void {
    this.options.checks.hold('answers in a documented shape', problem && `${this.place.name}: ${problem}`);
  }
}
