import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
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
const step = (command: string, more: object = {}) => workspace().step(command, { ...variables(), ...more });

describe('a commit is deployed', () => {
  const run = { status: 'completed', conclusion: 'success', html_url: 'https://github.example/1' };
  const failed = { ...run, conclusion: 'failure' };
  const url = '/repos/owner/name/actions/workflows/check.yml/runs?head_sha=c0ffee&branch=main&event=push';

  const command = 'node --require tsx/cjs .ci/require-green.ts';
  it('when its newest check passed', async () => {
    answers = { [url]: { workflow_runs: [run, failed] } };
    expect(await step(command)).toMatchObject({
      exitCode: 0,
      printed: expect.stringContaining('passed for'),
    });
  });

  // As a process, once for all scripts: an error is one line, and the exit code.
  it('not when its newest check failed', async () => {
    answers = { [url]: { workflow_runs: [failed, run] } };
    const printed = `The workflow check ended with failure for c0ffee: ${run.html_url}\n`;
    expect(await workspace().start(command, variables())).toMatchObject({ exitCode: 1, printed });
  });

  // https://docs.github.com/en/rest/actions/workflow-runs#get-a-workflow-run
  it.each<[string, readonly object[]]>([
    ...['cancelled', 'skipped', 'neutral', 'timed_out', 'action_required', 'stale', null].map(
      (conclusion): [string, object[]] => [`ended with ${conclusion}`, [{ ...run, conclusion }, run]],
    ),
    ['is still running', [{ ...run, status: 'in_progress' }, run]],
    ['has not run for c0ffee on main', []],
  ])('not when its check %s', async (reason, workflow_runs) => {
    answers = { [url]: { workflow_runs } };
    expect(await step(command)).toMatchObject({ exitCode: 1, printed: expect.stringContaining(reason) });
  });
});

describe('a GitHub environment', () => {
  const reviewers = [{ type: 'User', reviewer: { login: 'someone' } }];
  const rule = { type: 'required_reviewers', prevent_self_review: true, reviewers };
  const branches = { deployment_branch_policy: { protected_branches: false, custom_branch_policies: true } };
  const complete = { can_admins_bypass: false, protection_rules: [rule], ...branches };
  const main = { name: 'main', type: 'branch' };

  function answer(name: string, environment: object | undefined, policies: unknown): void {
    const url = `/repos/owner/name/environments/${name}`;
    answers = { [url]: environment, [`${url}/deployment-branch-policies`]: { branch_policies: policies } };
  }
  const withRule = (changes: object) => ({ ...complete, protection_rules: [{ ...rule, ...changes }] });

  it.each<[string, object | undefined, string, unknown]>([
    ['that is missing', undefined, 'it does not exist', []],
    ['without an answer', {}, 'no required reviewers (not every GitHub plan has them)', [main]],
    ['without a reviewer', withRule({ reviewers: [] }), 'no required reviewers', [main]],
    ['with self-review', withRule({ prevent_self_review: false }), 'whoever starts a run may', [main]],
    ['with unknown self-review', withRule({ prevent_self_review: undefined }), 'whoever starts', [main]],
    ['that administrators bypass', { ...complete, can_admins_bypass: true }, 'administrators may', [main]],
    ['of unknown bypassing', { ...complete, can_admins_bypass: undefined }, 'administrators may', [main]],
    ['for all branches', { ...complete, deployment_branch_policy: null }, 'branches other than main', [main]],
    ['for a second branch', complete, 'branches other than main', [main, { name: '*', type: 'branch' }]],
    ['for a tag named main', complete, 'branches other than main', [{ name: 'main', type: 'tag' }]],
    ['for no branch', complete, 'branches other than main', []],
    ['of unknown branches', complete, 'branches other than main', null],
  ])('%s is refused for deployments', async (_, environment, fault, policies) => {
    answer('eu', environment, policies);
    const { exitCode, printed } = await check('deploy');
    expect(exitCode).toBe(1);
    expect(printed).toMatch(/^The GitHub environment eu is not protected: /);
    expect(printed).toContain(fault);
  });
  const check = (KINDS: string) =>
    step('node --require tsx/cjs .ci/require-protection.ts "$ENVIRONMENT" "$KINDS"', { KINDS });

  const ofOneself = withRule({ prevent_self_review: false });
  it.each<[kinds: string, fault: string, name: string, object, unknown]>([
    ['deploy', '', 'eu', complete, [main]],
    ['deploy,read', 'eu-read is not protected: it does not exist', 'eu', complete, [main]],
    // May be approved by who started the run.
    ['operate', '', 'eu-operate', ofOneself, [main]],
    ['operate', 'eu-operate is not protected: it has no', 'eu-operate', withRule({ reviewers: [] }), [main]],
    // Needs no approval, but only main may use it.
    ['read', '', 'eu-read', branches, [main]],
    ['read', 'eu-read is not protected: branches other', 'eu-read', complete, []],
    ['', '"" is no kind of GitHub environment. Known: deploy, operate, read.', 'eu', complete, [main]],
  ])('is checked for the kinds "%s": "%s"', async (kinds, fault, name, environment, policies) => {
    answer(name, environment, policies);
    const { exitCode, printed } = await check(kinds);
    expect(exitCode).toBe(fault === '' ? 0 : 1);
    expect(printed).toContain(fault);
  });
});

it('lists the environments that GitHub has, and skips and names the others', async () => {
  const { name: environment, region } = first;
  const url = `/repos/owner/name/environments/${environment}-read`;
  const branches = { deployment_branch_policy: { custom_branch_policies: true } };
  const policies = {
    [`${url}/deployment-branch-policies`]: { branch_policies: [{ name: 'main', type: 'branch' }] },
  };
  answers = { [url]: branches, ...policies };
  const list = () => step('node --require tsx/cjs .ci/list-environments.ts');
  const { output, summary } = await list();
  expect(output).toBe(`environments=${JSON.stringify([{ environment, region }])}\n`);
  for (const { name } of environments.slice(1)) expect(summary).toContain(`Skipped ${name}: `);

  for (const [answer, message] of [
    [500, 'returned 500.'],
    [{}, `${environment}-read is not protected`],
  ]) {
    answers = { [url]: answer, ...policies };
    expect(await list()).toMatchObject({
      exitCode: 1,
      printed: expect.stringContaining(String(message)),
      output: '',
    });
  }
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
    return step('node --require tsx/cjs .ci/find-last-good.ts "$STACK"');
  }

  const summary = expect.stringContaining('rolls back to the assembly of 2026-11-11');
  expect(await answerWith(run, run, ...others, run)).toMatchObject({
    exitCode: 0,
    output: 'run=11\n',
    summary,
  });
  const none = { exitCode: 0, output: '', summary: expect.stringContaining('No earlier assembly') };
  expect(await answerWith(...others, run)).toMatchObject(none);
  // Not guessed when GitHub does not answer.
  const printed = expect.stringContaining('GitHub has no actions/runs/10');
  expect(await answerWith(undefined, run)).toMatchObject({ exitCode: 1, output: '', printed });
});

it("a workflow's stack or environment is in the table", async () => {
  const find = (KIND: string, NAME: string) =>
    step('node --require tsx/cjs .ci/find-target.ts "$KIND" "$NAME"', { KIND, NAME });
  const { name, stackId, region, standby } = withStandby;
  const output = `environment=${name}\nregion=${region}\nserves=true\n`;
  expect(await find('environment', name)).toMatchObject({ exitCode: 0, output });
  expect(await find('stack', stackId)).toMatchObject({ exitCode: 0, output });
  const ofStandby = `environment=${name}\nregion=${standby.region}\nserves=false\n`;
  expect(await find('stack', standby.stackId)).toMatchObject({ exitCode: 0, output: ofStandby });
  const printed = expect.stringContaining(`There is no stack "${name}"`);
  expect(await find('stack', name)).toMatchObject({ exitCode: 1, output: '', printed });
});
