import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { githubEnvironments } from '../../domain/workflow-roles';
import { startHttpServer } from '../support/http-server';
import { first, withStandby } from '../support/rows';
import { environments } from '../support/table';
import { useShared } from '../support/use-shared';
import { useWorkspaces } from './workspace';

/** GitHub's responses by path, or their status; 404 for any other. */
let answers: Readonly<Record<string, unknown>> = {};
const github = useShared(() =>
  startHttpServer(({ url = '', headers }, response) => {
    const answer = headers.authorization === 'Bearer token' ? answers[url] : undefined;
    const status = typeof answer === 'number' ? answer : answer === undefined ? 404 : 200;
    response.writeHead(status).end(JSON.stringify(answer ?? {}));
  }),
);

const variables = () => ({
  GITHUB_API_URL: github.url.replace(/\/$/, ''),
  GITHUB_REPOSITORY: 'owner/name',
  GITHUB_SERVER_URL: usualServer,
  GITHUB_SHA: 'c0ffee',
  GH_TOKEN: 'token',
  STACK: 'WalletEu',
  ENVIRONMENT: 'eu',
});
const workspace = useWorkspaces();
const step = (command: string, more: object = {}) => workspace().step(command, { ...variables(), ...more });

const run = { status: 'completed', conclusion: 'success', html_url: 'https://github.example/1' };
const failed = { ...run, conclusion: 'failure' };
// https://docs.github.com/en/rest/actions/workflow-runs#get-a-workflow-run
it.each<[string, readonly object[]]>([
  ['The workflow check passed for c0ffee', [run, failed]],
  [`The workflow check ended with failure for c0ffee: ${run.html_url}`, [failed, run]],
  ['ended with cancelled', [{ ...run, conclusion: 'cancelled' }, run]],
  ['is still running', [{ ...run, status: 'in_progress' }, run]],
  ['has not run for c0ffee on main.', []],
])('a commit is deployed only when its newest check passed: it %s', async (reason, workflow_runs) => {
  const url = '/repos/owner/name/actions/workflows/check.yml/runs?head_sha=c0ffee&branch=main&event=push';
  answers = { [url]: { workflow_runs } };
  const exitCode = reason.includes('passed') ? 0 : 1;
  const printed = expect.stringContaining(reason);
  expect(await step('node --require tsx/cjs .ci/require-green.ts')).toMatchObject({ exitCode, printed });
});

it('the error of a script is one line', async () => {
  const outcome = await workspace().start('node --require tsx/cjs .ci/find-target.ts stack a', variables());
  const printed = expect.stringMatching(/^There is no stack "a" .*\n$/);
  expect(outcome).toMatchObject({ exitCode: 1, printed });
});

const branches = { deployment_branch_policy: { protected_branches: false, custom_branch_policies: true } };
const main = { name: 'main', type: 'branch' };

const protect = (KINDS: string, more: object = {}) =>
  step('node --require tsx/cjs .ci/require-protection.ts "$ENVIRONMENT" "$KINDS"', { KINDS, ...more });
const usualServer = 'https://github.com';
const customized = { use_default: false, include_claim_keys: ['repo', 'ref'] };
it.each<[string, unknown, reason: string, server: string]>([
  ['a server of its own', undefined, 'has an OIDC issuer', 'https://acme.ghe.com'],
  ['a customized subject', customized, 'OIDC tokens (repo, ref), which', usualServer],
  // As of every repository that nobody customized, and of a token that may not read it.
  ['the usual subject', { use_default: true }, 'is not protected', usualServer],
  ['a subject that the token may not read', 403, 'is not protected', usualServer],
])('a repository with %s is refused by name, or not', async (_, template, reason, GITHUB_SERVER_URL) => {
  answers = { '/repos/owner/name/actions/oidc/customization/sub': template };
  const outcome = await protect('deploy', { GITHUB_SERVER_URL });
  expect(outcome).toMatchObject({ exitCode: 1, printed: expect.stringContaining(reason) });
});

describe('a GitHub environment', () => {
  const reviewers = [{ type: 'User', reviewer: { login: 'someone' } }];
  const rule = { type: 'required_reviewers', prevent_self_review: true, reviewers };
  const complete = { can_admins_bypass: false, protection_rules: [rule], ...branches };
  const withRule = (changes: object) => ({ ...complete, protection_rules: [{ ...rule, ...changes }] });
  const noReviewers = 'it has no required reviewers (not every GitHub plan has them)';
  const anyStarter = 'whoever starts a run may approve it';
  const bypass = 'administrators may bypass the approval';
  const others = 'branches other than main may use it';

  it.each<[string, string, object | undefined, unknown, fault: string]>([
    ['deploy', 'complete', complete, [main], ''],
    ['deploy', 'missing', undefined, [], 'it does not exist'],
    // What it does not answer is a fault.
    ['deploy', 'without answers', {}, [], `${noReviewers}; ${anyStarter}; ${bypass}; ${others}`],
    ['deploy', 'without a reviewer', withRule({ reviewers: [] }), [main], noReviewers],
    ['deploy', 'with self-review', withRule({ prevent_self_review: false }), [main], anyStarter],
    ['deploy', 'that administrators bypass', { ...complete, can_admins_bypass: true }, [main], bypass],
    ['deploy', 'for all branches', { ...complete, deployment_branch_policy: null }, [main], others],
    ['deploy', 'for a second branch', complete, [main, { name: '*', type: 'branch' }], others],
    ['deploy', 'for a tag named main', complete, [{ name: 'main', type: 'tag' }], others],
    ['operate', 'with self-review', withRule({ prevent_self_review: false }), [main], ''],
    ['operate', 'without a reviewer', withRule({ reviewers: [] }), [main], noReviewers],
    // Needs no approval, but only main may use it.
    ['read', 'without approval', branches, [main], ''],
    ['read', 'for no branch', complete, [], others],
    ['deploy,read', 'complete, without the second', complete, [main], 'it does not exist'],
  ])('to %s is checked: %s', async (KINDS, _, environment, branch_policies, fault) => {
    const names = KINDS.split(',').map((kind) => githubEnvironments('eu')[kind as 'deploy']);
    const url = `/repos/owner/name/environments/${names[0]}`;
    answers = { [url]: environment, [`${url}/deployment-branch-policies`]: { branch_policies } };
    const printed = `The GitHub environment ${names.at(-1)} is not protected: ${fault}. See docs/deploying.md.`;
    expect(await protect(KINDS)).toMatchObject(
      fault ? { exitCode: 1, printed } : { exitCode: 0, printed: '' },
    );
  });
});

it('lists the environments that GitHub has, and skips and names the others', async () => {
  const { name: environment, region } = first;
  const url = `/repos/owner/name/environments/${environment}-read`;
  const list = (of = workspace()) => of.step('node --require tsx/cjs .ci/list-environments.ts', variables());
  const listed = (qualifier: string) =>
    `environments=${JSON.stringify([{ environment, region, qualifier }])}\n`;
  answers = { [url]: branches, [`${url}/deployment-branch-policies`]: { branch_policies: [main] } };
  const { output, summary } = await list();
  expect(output).toBe(listed('hnb659fds'));
  for (const { name } of environments.slice(1)) expect(summary).toContain(`Skipped ${name}: `);
  const other = workspace();
  rmSync(join(other.folder, 'cdk.json'));
  other.write('cdk.json', JSON.stringify({ context: { '@aws-cdk/core:bootstrapQualifier': 'wallet' } }));
  expect((await list(other)).output).toBe(listed('wallet'));

  answers = { [url]: 500 };
  const printed = expect.stringContaining('returned 500.');
  expect(await list()).toMatchObject({ exitCode: 1, printed, output: '' });
  answers = { [url]: {} };
  expect(await list()).toMatchObject({ exitCode: 1, output: '' });
});

it('the last good assembly is from the newest deployment that passed smoke, not another artifact of that name', async () => {
  const run = {
    path: '.github/workflows/deploy.yml',
    event: 'workflow_dispatch',
    head_branch: 'main',
    head_repository: { full_name: 'owner/name' },
  };
  const others = [
    { path: '.github/workflows/check.yml' },
    { head_branch: 'evil' },
    { head_repository: { full_name: 'evil/name' } },
    { event: 'pull_request' },
  ].map((change) => ({ ...run, ...change }));
  /** Each run has an artifact of its day in November, from the tenth; the last one's is expired. */
  function answerWith(...runs: readonly (object | undefined)[]) {
    const url = '/repos/owner/name/actions';
    const artifacts: object[] = [];
    answers = { [`${url}/artifacts?name=deployed-WalletEu&per_page=100`]: { artifacts } };
    for (const [index, each] of runs.entries()) {
      const id = 10 + index;
      const expired = index === runs.length - 1;
      artifacts.push({ expired, created_at: `2026-11-${id}`, workflow_run: { id } });
      answers = { ...answers, [`${url}/runs/${id}`]: each && { id, ...each } };
    }
    return step('node --require tsx/cjs .ci/find-last-good.ts "$STACK"');
  }

  expect(await answerWith(run, run, ...others, run)).toMatchObject({ exitCode: 0, output: 'run=11\n' });
  expect(await answerWith(...others, run)).toMatchObject({ exitCode: 0, output: '' });
  // Not guessed when GitHub does not answer.
  const printed = expect.stringContaining('GitHub has no actions/runs/10');
  expect(await answerWith(undefined, run)).toMatchObject({ exitCode: 1, output: '', printed });
});

const { name, stackId, region, standby } = withStandby;
it.each([
  ['environment', name, region, true],
  ['stack', stackId, region, true],
  ['stack', standby.stackId, standby.region, false],
  ['stack', name, '', false],
])('finds the %s %s in the table, or not', async (KIND, NAME, region, serves) => {
  const command = 'node --require tsx/cjs .ci/find-target.ts "$KIND" "$NAME"';
  const output = region ? `environment=${name}\nregion=${region}\nserves=${serves}\n` : '';
  expect(await step(command, { KIND, NAME })).toMatchObject({ exitCode: region ? 0 : 1, output });
});
