import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowRun } from '../../.ci/github';
import { findLastGood } from '../../.ci/last-good';
import { requireApproval } from '../../.ci/require-approval';
import { requireGreen } from '../../.ci/require-green';
import { findTarget } from '../../.ci/target';
import { environments } from '../../lib/environments';
import { type HttpServer, startHttpServer } from '../support/http-server';
import { first, withStandby } from '../support/rows';
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

  it('not without a check, nor while it runs', () => {
    const running = [{ ...run, status: 'in_progress', conclusion: null }, run] as WorkflowRun[];
    expect(() => requireGreen('c0ffee', [])).toThrow('has not run for c0ffee on main');
    expect(() => requireGreen('c0ffee', running)).toThrow('still running');
  });
});

describe('an approval', () => {
  const rule = { type: 'required_reviewers', reviewers: [{ type: 'User', reviewer: { login: 'someone' } }] };

  it.each<[string, object, string]>([
    ['is missing', { protection_rules: [{ type: 'branch_policy' }] }, 'does not require approval'],
    ['has no reviewer', { protection_rules: [{ ...rule, reviewers: [] }] }, 'does not require approval'],
    ['may be bypassed', { can_admins_bypass: true, protection_rules: [rule] }, 'Administrators can bypass'],
  ])('that %s is refused', async (_, environment, message) => {
    answers = { '/repos/owner/name/environments/eu': environment };
    await expect(inProcess(() => requireApproval('eu'))).rejects.toThrow(message);
  });

  it.each([
    ['passes', { can_admins_bypass: false, protection_rules: [rule] }, 0, ''],
    ['fails without a GitHub environment', undefined, 1, 'has no GitHub environment eu'],
  ])('its step %s', async (_, environment, exitCode, message) => {
    answers = { '/repos/owner/name/environments/eu': environment };
    const outcome = await step('node --require tsx/cjs .ci/require-approval.ts "$ENVIRONMENT"');
    expect(outcome).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
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

it('the last good assembly is from the newest deployment that passed smoke, not another artifact of that name', async () => {
  const run = {
    path: '.github/workflows/deploy.yml',
    event: 'workflow_dispatch',
    head_branch: 'main',
    head_repository: { full_name: 'owner/name' },
  };
  const others = [
    { ...run, path: '.github/workflows/check.yml' },
    { ...run, head_branch: 'evil' },
    { ...run, head_repository: { full_name: 'evil/name' } },
    { ...run, head_repository: null },
    { ...run, event: 'pull_request' },
  ];
  /** Each run has an artifact of its day in November, from the tenth; the last one's is expired. */
  function answerWith(...runs: readonly (object | undefined)[]) {
    const artifacts = runs.map((_, index) => {
      const id = 10 + index;
      return { expired: index === runs.length - 1, created_at: `2026-11-${id}`, workflow_run: { id } };
    });
    const url = '/repos/owner/name/actions';
    const found = runs.map((each, index) => [
      `${url}/runs/${10 + index}`,
      each && { id: 10 + index, ...each },
    ]);
    const list = `${url}/artifacts?name=deployed-WalletEu&per_page=100`;
    answers = { [list]: { artifacts }, ...Object.fromEntries(found) };
    return inProcess(() => findLastGood('WalletEu'));
  }

  const summary = expect.stringContaining('rolls back to the assembly of 2026-11-11');
  expect(await answerWith(run, run, ...others, run)).toEqual({ output: 'run=11\n', summary });
  const none = { output: '', summary: expect.stringContaining('No earlier assembly') };
  expect(await answerWith(...others, run)).toEqual(none);
  // Not guessed when GitHub does not answer.
  await expect(answerWith(undefined, run)).rejects.toThrow('GitHub has no actions/runs/10');
});

it("a workflow's stack or environment is in the table", () => {
  const { name: environment, stackId, region, standby } = withStandby;
  expect(findTarget('environment', environment)).toEqual({ environment, region, serves: 'true' });
  expect(findTarget('stack', stackId)).toEqual({ environment, region, serves: 'true' });
  expect(findTarget('stack', standby.stackId)).toMatchObject({ region: standby.region, serves: 'false' });
  expect(() => findTarget('stack', environment)).toThrow(`There is no stack "${environment}"`);
});
