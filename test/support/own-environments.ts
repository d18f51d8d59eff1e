/** The environments of a test run, as a process, with their functions in it. It stops them when its parent disconnects or exits. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Decide, decideAccess, type Policies } from '../../local/aws/iam/permissions';
import { type AccessRequest, matches, type Statement } from '../../local/aws/iam/policy';
import { startLocal } from '../../local/start';
import { openState } from '../../local/state/lock';
import { startHttpServer } from './http-server';
import { startInProcess } from './in-process';
import { sharedInRun } from './once-per-run';
import { copyNewCluster } from './postgres';
import { running } from './rows';

/** The distinct requests of each environment, by its policies. */
const requests = new Map<Policies, Map<string, AccessRequest>>();
/** Of requests to refuse, each once: parts of `principal`, `resource` and, in lower case, `action`. */
const toRefuse = new Set<URLSearchParams>();

const decide: Decide = (request, policies) => {
  if (!requests.has(policies)) requests.set(policies, new Map());
  requests.get(policies)?.set(JSON.stringify(request), request);
  const { principal, resource, action } = request;
  const parts = Object.entries({ principal, resource, action: action.toLowerCase() });
  const refusing = [...toRefuse].find((each) =>
    parts.every(([name, text]) => text.includes(each.get(name) ?? '')),
  );
  if (!refusing) return decideAccess(request, policies);
  toRefuse.delete(refusing);
  return 'A test refuses it.';
};

/** The reasons why policies deny an environment's requests for such actions. */
const refused = (of: Policies, policies: Policies, actions: string) =>
  [...(requests.get(of)?.values() ?? [])]
    .filter(({ action }) => matches(actions.toLowerCase(), action.toLowerCase()))
    .flatMap((request) => decideAccess(request, policies) ?? []);

function without({ ofRoles, ofResources }: Policies, statement: Statement, action: string): Policies {
  const changed = { ...statement, actions: statement.actions.filter((each) => each !== action) };
  const remaining = (all: Policies['ofRoles']) =>
    new Map([...all].map(([arn, each]) => [arn, each.map((one) => (one === statement ? changed : one))]));
  return { ofRoles: remaining(ofRoles), ofResources: remaining(ofResources) };
}

/** What the policies deny, and each action that they allow: whether a request would be denied without it. */
const report = () => ({
  refused: [...requests.keys()].flatMap((policies) => refused(policies, policies, '*')),
  grants: [...requests.keys()].flatMap((policies) =>
    [...policies.ofRoles.values(), ...policies.ofResources.values()].flat().flatMap((statement) =>
      (statement.effect === 'Allow' ? statement.actions : []).map((action) => ({
        where: statement.where,
        action,
        isNeeded: refused(policies, without(policies, statement, action), action).length > 0,
      })),
    ),
  ),
});
export type AccessReport = ReturnType<typeof report>;

async function main(): Promise<void> {
  const ended = new Promise((end) => process.on('disconnect', end));
  process.on('SIGINT', () => undefined);
  const directory = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  const { directory: assembly } = await sharedInRun('assembly');
  const state = openState(directory);
  await copyNewCluster(state.emptyClusterDirectory);
  const local = await startLocal({
    assembly,
    state,
    environments: running.map(({ name }) => name),
    ports: 'any',
    log: { step: () => undefined, problem: () => undefined },
    runtime: startInProcess,
    decide,
  });
  const { url: access } = await startHttpServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', access);
    if (pathname === '/refuse') toRefuse.add(searchParams);
    response.end(pathname === '/report' ? JSON.stringify(report()) : '');
  });
  process.send?.({ directory, access });
  await ended;
  await local.stop();
  rmSync(directory, { recursive: true, force: true });
  process.exit();
}

void main();
