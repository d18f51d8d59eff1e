import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import type { TokenMaker, WireRequest } from '../../support/api';
import { expectDocumented } from '../../support/openapi';
import { type Checks, oneOf } from '../long-run';
import { type GroupState, type Groups, isGone, isWhole } from './groups';
import { type Mistake, mistakes } from './mistakes';

/** Where groups are deleted. */
export interface Api {
  readonly name: string;
  readonly baseUrl: string;
  readonly tokens: TokenMaker;
  readonly groups: Groups;
}

/** A signed request to delete a group, and its response. */
export interface Deletion {
  /** `raced`: sent at the same time as another with the same user action. */
  readonly kind: 'valid' | 'raced' | 'replayed' | 'invalid';
  readonly groupId: string;
  readonly userActionId: string;
  /** The user action. */
  readonly signature: string;
  readonly wire: WireRequest;
  /** `200`, or status and code of the refusal, without faults. */
  readonly expected: readonly string[];
  /** As `expected`; `none` when no response came. */
  response?: string;
  /** From the request's last byte written to the response's last byte read. */
  milliseconds?: number;
}

const replayed = '403 user_action_replayed';

/** Whether the user action was used up: a missing group also uses it up. */
const usesUp = ({ response }: Deletion) => response === '200' || response === '404 user_group_not_found';

/** Requests that are refused before a function runs, or because of their form. */
const malformed: readonly Mistake[] = [
  { answer: '400 invalid_user_group_id', make: (right) => ({ ...right, path: '/auth/user-groups/ug-1' }) },
  {
    answer: '401 token_malformed',
    make: ({ path, headers = [] }) => ({
      path,
      headers: [['authorization', 'Bearer x.y.z'], ...headers.slice(1)],
    }),
  },
];

type Template = Pick<Deletion, 'kind' | 'expected' | 'groupId'> &
  Partial<Pick<Deletion, 'userActionId' | 'signature'>> & { readonly mistake?: Mistake };

/**
 * Signs requests: half are valid, the others replay a user action, use one twice at once (for the same group, or for two), or
 * have one mistake.
 *
 * @param earlier whose user actions are replayed
 */
export async function signDeletions(
  { tokens, groups }: Api,
  count: number,
  earlier: readonly Deletion[],
  random: () => number,
): Promise<readonly Deletion[]> {
  const ids = await groups.make(count);
  const take = () => ids.pop() as string;
  const replayable = earlier.filter(({ kind, response }) => kind === 'valid' && response !== undefined);
  const templates: Template[] = [];
  while (templates.length < count) {
    const chance = random();
    if (chance < 0.15 && templates.length + 2 <= count) {
      const [groupId, userActionId] = [take(), randomUUID()];
      const other = random() < 0.5 ? groupId : take();
      const raced = { kind: 'raced', expected: ['200', replayed], userActionId } as const;
      templates.push({ ...raced, groupId }, { ...raced, groupId: other });
    } else if (chance < 0.3 && replayable.length > 0) {
      const first = oneOf(random, replayable);
      // A refused request, or one without a response, may still succeed, but only once.
      const expected = usesUp(first) ? [replayed] : ['200', replayed];
      const { groupId, userActionId, signature } = first;
      templates.push({ kind: 'replayed', expected, groupId, userActionId, signature });
    } else if (chance < 0.5) {
      const mistake = oneOf(random, [...mistakes, ...malformed]);
      templates.push({ kind: 'invalid', expected: [mistake.answer], groupId: take(), mistake });
    } else templates.push({ kind: 'valid', expected: ['200'], groupId: take() });
  }
  const accessToken = await tokens.accessToken(groups.organization);
  return Promise.all(
    templates.map(async ({ mistake, userActionId = randomUUID(), ...template }) => {
      const organization = { ...groups.organization, userGroupId: template.groupId };
      const signature = template.signature ?? (await tokens.userAction(organization, { jti: userActionId }));
      const right: WireRequest = {
        path: `/auth/user-groups/${template.groupId}`,
        headers: [
          ['authorization', `Bearer ${accessToken}`],
          ['x-svc-useraction', signature],
        ],
      };
      const wire = mistake ? await mistake.make(right, organization, tokens) : right;
      return { ...template, userActionId, signature, wire };
    }),
  );
}

export interface Traffic {
  readonly connections: number;
  /** Requests a second over all connections. @default - as fast as they are answered */
  readonly rate?: number;
  readonly signal: AbortSignal;
}

/**
 * Sends every request once and records its response. Adjacent ones are sent almost concurrently, on different connections.
 *
 * @param deletions a multiple of the connections: autocannon splits them evenly
 */
export async function sendDeletions(
  { name, baseUrl }: Api,
  deletions: readonly Deletion[],
  { connections, rate, signal }: Traffic,
  checks: Checks,
): Promise<void> {
  const used = Math.min(connections, deletions.length);
  let nextConnection = 0;
  const options: autocannon.Options = {
    url: baseUrl,
    connections: used,
    amount: deletions.length,
    // Seconds. The API's own limit is 29.
    timeout: 30,
    ...(rate === undefined ? {} : { overallRate: rate }),
    setupClient(client) {
      const first = nextConnection;
      nextConnection += 1;
      const own = deletions.filter((_, index) => index % used === first);
      let latest: Deletion | undefined;
      client.setRequests(
        own.map((deletion) => ({
          ...toAutocannon(deletion.wire),
          onResponse(status, body, _context, headers) {
            latest = deletion;
            deletion.response = status === 200 ? '200' : `${status} ${problemCode(body)}`;
            checks.hold('responses are documented', undocumented(deletion, status, body, headers));
          },
        })),
      );
      // Called right after `onResponse`.
      client.on('response', (_status: number, _bytes: number, milliseconds: number) => {
        if (latest) latest.milliseconds = milliseconds;
      });
    },
  };
  let stop = () => {};
  await new Promise<void>((resolve, reject) => {
    const instance = autocannon(options, (error) => (error ? reject(error) : resolve()));
    stop = () => instance.stop?.();
    signal.addEventListener('abort', stop);
  }).finally(() => signal.removeEventListener('abort', stop));
  signal.throwIfAborted();
  for (const deletion of deletions) {
    deletion.response ??= 'none';
    checks.hold('every request gets a response', deletion.response === 'none' && `${name}: none`);
  }
}

const toAutocannon = ({ method = 'DELETE', path, headers = [], body }: WireRequest): autocannon.Request => ({
  method: method as NonNullable<autocannon.Request['method']>,
  path,
  headers: Object.fromEntries(headers),
  ...(body === undefined ? {} : { body }),
});

function problemCode(body: string): string {
  try {
    return JSON.parse(body).code;
  } catch {
    return body.slice(0, 100);
  }
}

function undocumented({ wire }: Deletion, status: number, body: string, headers: object | undefined) {
  const { method = 'DELETE', path } = wire;
  const names = Object.entries(headers ?? {});
  const contentType = names.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  try {
    expectDocumented({ method, path, status, contentType, body });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** @param mayRefuse during a fault, or in a burst, which the throttle or a busy machine may cut short */
export function checkResponses(
  { name }: Api,
  deletions: readonly Deletion[],
  checks: Checks,
  mayRefuse = false,
): void {
  for (const { kind, response = 'none', expected } of deletions) {
    checks.hold(
      mayRefuse ? 'nothing wrong succeeds during a fault or a burst' : 'responses are as expected',
      !expected.includes(response) &&
        !(mayRefuse && response !== '200') &&
        `${name}: ${response} for a ${kind} deletion, instead of ${expected.join(' or ')}`,
    );
  }
}

/** Compares groups and the audit with the responses received before they are read. */
export async function checkGroups({ name, groups }: Api, deletions: readonly Deletion[], checks: Checks) {
  const byGroup = groupBy(deletions, 'groupId');
  const states = await groups.states([...byGroup.keys()]);
  for (const [groupId, own] of byGroup) {
    const problem = wrongState(states.get(groupId), own);
    checks.hold('groups are whole, or gone as the audit says', problem && `${name}: ${groupId} ${problem}`);
  }
  const byAction = groupBy(deletions, 'userActionId');
  const uses = await groups.countUses([...byAction.keys()]);
  for (const [userActionId, own] of byAction) {
    const problem = wrongUse(uses.get(userActionId) ?? 0, own);
    checks.hold('user actions are used at most once', problem && `${name}: ${userActionId} ${problem}`);
  }
}

/** As `Map.groupBy`, which Node.js 20 does not have. */
function groupBy(deletions: readonly Deletion[], key: 'groupId' | 'userActionId') {
  const groups = new Map<string, Deletion[]>();
  for (const deletion of deletions)
    groups.set(deletion[key], [...(groups.get(deletion[key]) ?? []), deletion]);
  return groups;
}

export function wrongState(
  state: GroupState | undefined,
  tried: readonly Pick<Deletion, 'kind' | 'response' | 'userActionId'>[],
): string | undefined {
  const text = JSON.stringify(state);
  if (!state || !(isWhole(state) || isGone(state))) return `is neither whole nor gone: ${text}`;
  if (isWhole(state))
    return tried.some(({ response }) => response === '200') ? `exists after a 200: ${text}` : undefined;
  const may = tried.filter(({ kind }) => kind !== 'invalid').map(({ userActionId }) => userActionId);
  return may.includes(state.deletions[0] ?? '') ? undefined : `was deleted by no request of ours: ${text}`;
}

export function wrongUse(uses: number, tried: readonly Deletion[]): string | undefined {
  const successes = tried.filter(usesUp).length;
  if (uses > 1 || successes > 1) return `was used ${uses} times, with ${successes} successful responses`;
  if (uses === 1) return undefined;
  if (successes === 1) return 'was used by its response, but is not in the audit';
  return tried.some(({ response }) => response === replayed)
    ? 'was refused as used, and never was'
    : undefined;
}

/** Recreates deleted groups, and replays the requests that deleted them. */
export async function checkReplays(
  api: Api,
  deletions: readonly Deletion[],
  checks: Checks,
  signal: AbortSignal,
): Promise<void> {
  const deleted = deletions.filter(({ kind, response }) => kind === 'valid' && response === '200').slice(-3);
  const ids = deleted.map(({ groupId }) => groupId);
  await api.groups.make(ids.length, ids);
  const again = deleted.map(({ groupId, userActionId, signature, wire }) => ({
    ...{ kind: 'replayed' as const, expected: [replayed], groupId, userActionId, signature, wire },
  }));
  await sendDeletions(api, again, { connections: 1, signal }, checks);
  checkResponses(api, again, checks);
  for (const [id, { groups, members }] of await api.groups.states(ids))
    checks.hold(
      'a replay leaves a new group alone',
      (groups !== 1 || members !== 3) && `${api.name}: ${id} lost something`,
    );
  await api.groups.remove(ids);
}
