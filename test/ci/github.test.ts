import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowRun } from '../../.ci/github';
import { findLastGood } from '../../.ci/last-good';
import { requireApproval } from '../../.ci/require-approval';
import { requireGreen } from '../../.ci/require-green';
import { findTarget } from '../../.ci/target';
import { environments } from '../../lib/environments';
import { type HttpServer, startHttpServer } from '../support/http-server';
import { first, newcomer, withStandby } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { Workspace } from './workspace';

const folder = temporaryFolder();
/** GitHub's responses by path, or their status; 404 for any other. */
let answers: Readonly<Record<string, unknown>> = {};
let github: HttpServer;

beforeAll(async () => {
  github = await startHttpServer(({ url = '', headers }, response) => {
    const answer = headers.authorization === 'Bearer token' ? answers[url] : undefined;
    const status = typeof answer === 'number' ? answer : answer === undefined ? 404 : 200;
    response.writeHead(status).end(JSON.stringify(answer ?? {}));
  });
});
afterAll(() => github.stop());

const variables = () => ({
  GITHUB_API_URL: github.url.replace(/\/$/, ''),
  GITHUB_REPOSITORY: 'owner/name',
  GITHUB_SHA: 'c0ffee',
  GH_TOKEN: 'token',
  STACK: 'WalletEu',
  ENVIRONMENT: 'eu',
});
const workspace = () => new Workspace(mkdtempSync(join(folder(), 'checkout-')));
const step = (command: string) => workspace().step(command, variables());

/** Runs the work of a step in this process. */
async function inProcess(work: () => Promise<void>) {
  const { output, summary } = workspace();
  Object.assign(process.env, variables(), { GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary });
  jest.spyOn(console, 'error').mockReturnValueOnce();
  await work();
  return { output: readFileSync(output, 'utf8'), summary: readFileSync(summary, 'utf8') };
}

describe('a commit is deployed', () => {
  const run = { status: 'completed', conclusion: 'success', html_url: 'https://github.example/1' };
  const failed = { ...run, conclusion: 'failure' };
  const url = '/repos/owner/name/actions/workflows/check.yml/runs?head_sha=c0ffee&branch=main&event=push';

  it.each([
    ['when its newest check passed', [run, failed], 0, ''],
    ['not when its newest check failed', [failed, run], 1, 'ended with failure'],
  ])('%s', async (_, workflow_runs, exitCode, message) => {
    answers = { [url]: { workflow_runs } };
    const outcome = await step('node --require tsx/cjs .ci/require-green.ts');
    expect(outcome).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
  });

  it.each([
    ['when it was not checked', [], 'has not run for c0ffee on main'],
    ['while its check runs', [{ ...run, status: 'in_progress', conclusion: null }, run], 'still running'],
  ])('not %s', (_, runs, message) => {
    expect(() => requireGreen('c0ffee', runs as unknown as WorkflowRun[])).toThrow(message);
  });
});

describe('an approval', () => {
  const rule = { type: 'required_reviewers', reviewers: [{ type: 'User', reviewer: { login: 'someone' } }] };

  it.each<[string, object | undefined, string | undefined]>([
    ['is required', { can_admins_bypass: false, protection_rules: [rule] }, undefined],
    ['is missing', { protection_rules: [{ type: 'branch_policy' }] }, 'does not require approval'],
    ['has no reviewer', { protection_rules: [{ ...rule, reviewers: [] }] }, 'does not require approval'],
    ['may be bypassed', { can_admins_bypass: true, protection_rules: [rule] }, 'Administrators can bypass'],
    ['has no environment', undefined, 'has no GitHub environment eu'],
  ])('%s', async (_, environment, message) => {
    answers = { '/repos/owner/name/environments/eu': environment };
    const failure = await inProcess(() => requireApproval('eu')).then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect(failure).toEqual(message && expect.stringContaining(message));
  });

  it('that is missing fails the step', async () => {
    answers = {};
    const outcome = await step('node --require tsx/cjs .ci/require-approval.ts "$ENVIRONMENT"');
    expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('environment eu') });
  });
});

it('lists the environments that GitHub has, and skips and names the others', async () => {
  const { name: environment, region } = first;
  answers = { [`/repos/owner/name/environments/${environment}-read`]: {} };
  const { output, summary } = await step('node --require tsx/cjs .ci/environments.ts');
  expect(output).toBe(`environments=${JSON.stringify([{ environment, region }])}\n`);
  for (const { name } of environments.slice(1)) expect(summary).toContain(`Skipped ${name}: `);

  answers = { [`/repos/owner/name/environments/${environment}-read`]: 500 };
  const refused = { exitCode: 1, stderr: expect.stringContaining('returned 500.'), output: '' };
  expect(await step('node --require tsx/cjs .ci/environments.ts')).toMatchObject(refused);
});

describe('the last good assembly', () => {
  const run = {
    path: '.github/workflows/deploy.yml',
    event: 'workflow_dispatch',
    head_branch: 'main',
    head_repository: { full_name: 'owner/name' },
  };
  /** Runs by their ids, each with an artifact of its day. */
  const answer = (runs: Readonly<Record<number, object | undefined>>, expired?: number) => {
    const entries = Object.entries(runs);
    const artifacts = entries.map(([id]) => ({
      expired: Number(id) === expired,
      created_at: `2026-11-${id.padStart(2, '0')}`,
      workflow_run: { id: Number(id) },
    }));
    const found = entries.map(([id, each]) => [
      `/repos/owner/name/actions/runs/${id}`,
      each && { id: Number(id), ...each },
    ]);
    const list = '/repos/owner/name/actions/artifacts?name=deployed-WalletEu&per_page=100';
    answers = { [list]: { artifacts }, ...Object.fromEntries(found) };
  };
  const find = () => inProcess(() => findLastGood('WalletEu'));

  it('is from the newest deployment that passed smoke, not another artifact of that name', async () => {
    const others = [
      { path: '.github/workflows/check.yml' },
      { head_branch: 'evil' },
      { head_repository: { full_name: 'evil/name' } },
      { head_repository: null },
      { event: 'pull_request' },
    ].map((change, index) => [10 + index, { ...run, ...change }]);
    answer({ 7: run, 8: run, 9: run, ...Object.fromEntries(others) }, 9);
    const { output, summary } = await find();
    expect(output).toBe('run=8\n');
    expect(summary).toContain('rolls back to the assembly of 2026-11-08');
  });

  it('may be missing, and is not guessed when GitHub does not answer', async () => {
    answer({ 7: run }, 7);
    const { output, summary } = await find();
    expect({ output, summary }).toEqual({
      output: '',
      summary: expect.stringContaining('No earlier assembly'),
    });
    answer({ 7: undefined });
    await expect(find()).rejects.toThrow('GitHub has no actions/runs/7');
  });
});

describe('the name in a workflow', () => {
  it.each([
    ['environment', withStandby.name, withStandby.region, true],
    ['stack', withStandby.stackId, withStandby.region, true],
    ['stack', withStandby.standby.stackId, withStandby.standby.region, false],
  ])('%s %s is in the table', (kind, name, region, serves) => {
    const environment = withStandby.name;
    expect(findTarget(kind, name)).toEqual({ environment, region, serves: String(serves) });
  });

  it.each([
    ['stack', newcomer.stackId],
    ['stack', withStandby.name],
    ['environment', `${withStandby.name} `],
  ])('%s "%s" is refused', (kind, name) => {
    expect(() => findTarget(kind, name)).toThrow(`There is no ${kind} "${name}"`);
  });
});
