import { readFileSync } from 'node:fs';
import type { WorkflowRun } from '../../.ci/github';
import { findLastGood } from '../../.ci/last-good';
import { requireApproval } from '../../.ci/require-approval';
import { requireGreen } from '../../.ci/require-green';
import { environments } from '../../lib/environments';
import { type HttpServer, startHttpServer } from '../support/http-server';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { Workspace } from './workspace';

const folder = temporaryFolder();
/** GitHub's responses by path; 404 for any other. */
let answers: Readonly<Record<string, unknown>> = {};
let github: HttpServer;

beforeAll(async () => {
  github = await startHttpServer(({ url = '', headers }, response) => {
    const answer = headers.authorization === 'Bearer token' ? answers[url] : undefined;
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}));
  });
});
afterAll(() => github.stop());

const commit = 'c0ffee';
const variables = () => ({
  GITHUB_API_URL: github.url.replace(/\/$/, ''),
  GITHUB_REPOSITORY: 'owner/name',
  GITHUB_SHA: commit,
  GH_TOKEN: 'token',
  STACK: 'WalletEu',
  ENVIRONMENT: 'eu',
});
const step = (command: string) => new Workspace(folder()).step(command, variables());

/** Runs the work of a step in this process. */
async function inProcess(work: () => Promise<void>) {
  const { output, summary } = new Workspace(folder());
  Object.assign(process.env, variables(), { GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary });
  jest.spyOn(console, 'error').mockReturnValueOnce();
  await work();
  return { output: readFileSync(output, 'utf8'), summary: readFileSync(summary, 'utf8') };
}

describe('a commit is deployed', () => {
  const run = { status: 'completed', conclusion: 'success', html_url: 'https://github.example/1' };
  const check = (runs?: readonly object[]) => {
    const url = `/repos/owner/name/actions/workflows/check.yml/runs?head_sha=${commit}&branch=main&event=push`;
    answers = runs ? { [url]: { workflow_runs: runs } } : {};
    return step('node --require tsx/cjs .ci/require-green.ts');
  };

  it('when its newest check passed', async () => {
    expect(await check([run, { ...run, conclusion: 'failure' }])).toMatchObject({ exitCode: 0 });
  });

  it('not when GitHub does not answer', async () => {
    expect(await check()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('the token may not read it'),
    });
  });

  it.each([
    ['when its check failed', [{ ...run, conclusion: 'failure' }, run], 'ended with failure'],
    ['when it was not checked', [], 'has not run for c0ffee on main'],
    ['while its check runs', [{ ...run, status: 'in_progress', conclusion: null }, run], 'still running'],
  ])('not %s', (_, runs, message) => {
    expect(() => requireGreen(commit, runs as unknown as WorkflowRun[])).toThrow(message);
  });
});

describe('an approval', () => {
  const reviewers = [{ type: 'User', reviewer: { login: 'someone' } }];
  const reviewed = {
    can_admins_bypass: false,
    protection_rules: [{ type: 'required_reviewers', reviewers }],
  };

  const answer = (environment?: object) => {
    answers = { '/repos/owner/name/environments/eu': environment };
  };

  it('is required', async () => {
    answer(reviewed);
    await inProcess(() => requireApproval('eu'));
  });

  it.each([
    [
      'is missing',
      { ...reviewed, protection_rules: [{ type: 'branch_policy' }] },
      'does not require approval',
    ],
    [
      'has no reviewer',
      { protection_rules: [{ type: 'required_reviewers', reviewers: [] }] },
      'does not require approval',
    ],
    ['may be bypassed', { ...reviewed, can_admins_bypass: true }, 'Administrators can bypass'],
  ])('%s', async (_, environment, message) => {
    answer(environment);
    await expect(inProcess(() => requireApproval('eu'))).rejects.toThrow(message);
  });

  it('fails when GitHub does not have the environment', async () => {
    answer();
    expect(await step('node --require tsx/cjs .ci/require-approval.ts "$ENVIRONMENT"')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('has no GitHub environment eu'),
    });
  });
});

it('skips and names environments that GitHub does not have', async () => {
  const { name: environment, region } = first;
  answers = { [`/repos/owner/name/environments/${environment}-read`]: {} };
  const { output, summary } = await step('node --require tsx/cjs .ci/environments.ts');
  expect(output).toBe(`environments=${JSON.stringify([{ environment, region }])}\n`);
  for (const { name } of environments.slice(1)) expect(summary).toContain(`Skipped ${name}: `);
});

describe('the last good assembly', () => {
  const run = {
    path: '.github/workflows/deploy.yml',
    event: 'workflow_dispatch',
    head_branch: 'main',
    head_sha: 'abc',
    html_url: 'https://github.example/7',
    head_repository: { full_name: 'owner/name' },
  };
  /** Runs by their ids, each with an artifact of its day. */
  const answer = (runs: Readonly<Record<number, object | undefined>>, expired: readonly number[] = []) => {
    const artifacts = Object.keys(runs).map((id) => ({
      expired: expired.includes(Number(id)),
      created_at: `2026-11-${id.padStart(2, '0')}`,
      workflow_run: { id: Number(id) },
    }));
    answers = {
      '/repos/owner/name/actions/artifacts?name=deployed-WalletEu&per_page=100': { artifacts },
      ...Object.fromEntries(
        Object.entries(runs).map(([id, each]) => [
          `/repos/owner/name/actions/runs/${id}`,
          each && { id: Number(id), ...each },
        ]),
      ),
    };
  };

  it('is from the newest deployment that passed smoke, not another artifact of that name', async () => {
    answer(
      {
        ...{ 7: run, 8: run, 9: run },
        10: { ...run, path: '.github/workflows/check.yml' },
        11: { ...run, head_branch: 'evil' },
        12: { ...run, head_repository: { full_name: 'evil/name' } },
        13: { ...run, head_repository: null },
        14: { ...run, event: 'pull_request' },
      },
      [9],
    );
    const { exitCode, output, summary } = await step('node --require tsx/cjs .ci/last-good.ts "$STACK"');
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'run=8\n' });
    expect(summary).toContain('rolls back to the assembly of 2026-11-08');
  });

  it('is reported as missing', async () => {
    answer({ 7: run }, [7]);
    const { output, summary } = await inProcess(() => findLastGood('WalletEu'));
    expect(output).toBe('');
    expect(summary).toContain('No earlier assembly of WalletEu passed smoke.');
  });

  it('is not guessed when GitHub does not answer', async () => {
    answer({ 7: undefined });
    await expect(inProcess(() => findLastGood('WalletEu'))).rejects.toThrow('GitHub has no actions/runs/7');
  });
});
