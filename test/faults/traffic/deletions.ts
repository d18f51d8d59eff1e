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

/** Deletes groups all the while: rightly, with user actions that were used before or are used twice at once, and wrongly. */
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
    const tracked: Promise<unknown> = this.oneBy(random())
      .catch((error: Error) => onViolation(`${environment}: ${error.stack}`))
      .finally(() => this.underWay.delete(tracked));
    this.underWay.add(tracked);
  }

  private oneBy(chance: number): Promise<unknown> {
    if (chance < 0.5) return this.due();
    if (chance < 0.65) return this.race();
    return chance < 0.8 ? this.replayOne() : this.refuse(oneOf(this.options.random, mistakes));
  }

  /** One user action sent twice at once: for the same group, or for two, as by a signer that gave out an id twice. */
  async race(): Promise<void> {
    const { groups, random } = this.options;
    const one = groups.take();
    const other = random() < 0.5 ? one : groups.take();
    if (one === undefined || other === undefined) return;
    const userActionId = randomUUID();
    const expected = ['200', replayed];
    const requests = await Promise.all(
      [one, other].map((groupId) => this.prepare({ kind: 'raced', groupId, expected, userActionId })),
    );
    await Promise.all(requests.map((request) => this.send(request)));
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

  private async attempt(request: Wanted): Promise<Attempt> {
    return this.send(await this.prepare(request));
  }

  /** Signs the request, so that nothing is left to do but to send it. */
  private async prepare(wanted: Wanted): Promise<Prepared> {
    const { groups, tokens } = this.options;
    const { groupId, first, userActionId = first?.userActionId ?? randomUUID(), mistake } = wanted;
    const organization = { ...groups.organization, userGroupId: groupId };
    const signature = first?.signature ?? (await tokens.userAction(organization, { jti: userActionId }));
    const right: WireRequest = {
      path: `/auth/user-groups/${groupId}`,
      headers: [
        ['authorization', `Bearer ${await tokens.accessToken(organization)}`],
        ['x-svc-useraction', signature],
      ],
    };
    const wire = mistake ? await mistake.make(right, organization, tokens) : right;
    return { wanted, wire, userActionId, signature };
  }

  private async send({ wanted, wire, userActionId, signature }: Prepared): Promise<Attempt> {
    const { environment, baseUrl, onViolation } = this.options;
    const { kind, groupId, expected } = wanted;
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

/** A request that is to be made. */
interface Wanted {
  readonly kind: Attempt['kind'];
  readonly groupId: string;
  readonly expected: readonly string[];
  /** @default - a new one, or that of `first` */
  readonly userActionId?: string;
  /** The attempt whose signature is sent again. */
  readonly first?: Attempt;
  readonly mistake?: Mistake;
}

interface Prepared {
  readonly wanted: Wanted;
  readonly wire: WireRequest;
  readonly userActionId: string;
  readonly signature: string;
}

const inWords = ({ status, body }: Answer): string => (status === 200 ? '200' : `${status} ${body.code}`);
