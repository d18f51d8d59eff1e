import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, send, type TokenMaker, type WireRequest } from '../../support/api';
import { type Mistake, mistakes } from '../../support/deletion-mistakes';
import type { GroupStock } from '../../support/group-stock';
import { oneOf } from '../../support/random';
import { type Attempt, usesUp } from './attempt';

export interface DeletionsOptions {
  readonly environment: string;
  readonly baseUrl: string;
  readonly tokens: TokenMaker;
  readonly groups: GroupStock;
  readonly random: () => number;
  /** Requests a second. */
  readonly rate: number;
  /** Gets what must never be, whatever is in trouble: an answer that is not documented, or none. */
  readonly onViolation: (violation: string) => void;
}

/** Requests under way at once, at most. Each takes a process of its function, and few machines have many cores. */
const width = 8;
/** Replays are of these many latest requests. */
const remembered = 200;

export const replayed = '403 user_action_replayed';

/** Deletes groups all the while: rightly, with user actions that were used before, and wrongly. */
export class Deletions {
  readonly attempts: Attempt[] = [];
  private readonly underWay = new Set<Promise<unknown>>();
  private stopped = false;

  constructor(private readonly options: DeletionsOptions) {}

  async run(): Promise<void> {
    while (!this.stopped) {
      if (this.underWay.size < width) this.begin();
      await sleep(1_000 / this.options.rate);
    }
    await Promise.all(this.underWay);
  }

  stop(): void {
    this.stopped = true;
  }

  /** One deletion that is due, sent now. */
  async due(): Promise<Attempt | undefined> {
    const groupId = this.options.groups.take();
    return groupId === undefined ? undefined : this.attempt({ kind: 'due', groupId, expected: ['200'] });
  }

  /** The very user action of an earlier attempt, sent again for the same group. */
  replay(first: Attempt, expected: readonly string[]): Promise<Attempt> {
    return this.attempt({ kind: 'replayed', groupId: first.groupId, expected, first });
  }

  private begin(): void {
    const { environment, random, onViolation } = this.options;
    const chance = random();
    const work: Promise<unknown> =
      chance < 0.55 ? this.due() : chance < 0.75 ? this.replayOne() : this.refuse(oneOf(random, mistakes));
    const tracked = work
      .catch((error: Error) => onViolation(`${environment}: ${error.stack}`))
      .finally(() => this.underWay.delete(tracked));
    this.underWay.add(tracked);
  }

  private async replayOne(): Promise<void> {
    const answered = this.attempts.slice(-remembered).filter(({ kind, answer }) => kind === 'due' && answer);
    if (answered.length === 0) return;
    const first = oneOf(this.options.random, answered);
    // One that was refused, or is not known to have been carried out, may still be; but only once.
    await this.replay(first, usesUp(first) ? [replayed] : ['200', replayed]);
  }

  private async refuse(mistake: Mistake): Promise<void> {
    const groupId = this.options.groups.take();
    if (groupId) await this.attempt({ kind: 'refused', groupId, expected: [mistake.answer], mistake });
  }

  private async attempt(request: {
    readonly kind: Attempt['kind'];
    readonly groupId: string;
    readonly expected: readonly string[];
    readonly first?: Attempt;
    readonly mistake?: Mistake;
  }): Promise<Attempt> {
    const { environment, groups, tokens, baseUrl, onViolation } = this.options;
    const { kind, groupId, expected, first, mistake } = request;
    const organization = { ...groups.organization, userGroupId: groupId };
    const userActionId = first?.userActionId ?? randomUUID();
    const signature = first?.signature ?? (await tokens.userAction(organization, { jti: userActionId }));
    const right: WireRequest = {
      path: `/auth/user-groups/${groupId}`,
      headers: [
        ['authorization', `Bearer ${await tokens.accessToken(organization)}`],
        ['x-svc-useraction', signature],
      ],
    };
    const wire = mistake ? await mistake.make(right, organization, tokens) : right;
    const attempt: Attempt = {
      environment,
      kind,
      groupId,
      userActionId,
      signature,
      expected,
      sentAt: Date.now(),
    };
    this.attempts.push(attempt);
    await send(baseUrl, wire).then(
      (answer) => {
        attempt.answer = inWords(answer);
      },
      (error: Error) => {
        attempt.answer = 'none';
        onViolation(`${environment}: ${error.message}`);
      },
    );
    attempt.answeredAt = Date.now();
    return attempt;
  }
}

const inWords = ({ status, body }: Answer): string => (status === 200 ? '200' : `${status} ${body.code}`);
