import type { WorkflowRun } from '../../.ci/github';
import { requireGreen } from '../../.ci/require-green';
import { type HttpServer, startHttpServer } from '../support/http-server';
import { temporaryFolder } from '../support/temporary-folder';
import { Workspace } from './workspace';

const folder = temporaryFolder();
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
const step = (command: string) =>
  new Workspace(folder()).step(command, {
    GITHUB_API_URL: github.url.replace(/\/$/, ''),
    GITHUB_REPOSITORY: 'owner/name',
    GITHUB_SHA: commit,
    GH_TOKEN: 'token',
    STACK: 'WalletEu',
  });

describe('a commit is deployed', () => {
  const runs = `/repos/owner/name/actions/workflows/check.yml/runs?head_sha=${commit}&branch=main&event=push`;
  const check = (workflow_runs: readonly object[]) => {
    answers = { [runs]: { workflow_runs } };
    return step('node --import tsx .ci/require-green.ts');
  };
  const run = { id: 1, status: 'completed', conclusion: 'success', html_url: 'https://github.example/1' };
  const failed = { ...run, conclusion: 'failure' };

  it('when its check passed', async () => {
    expect(await check([run, failed])).toMatchObject({ exitCode: 0 });
  });

  it('not when its check failed', async () => {
    expect(await check([failed, run])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('ended with failure'),
    });
  });

  it.each([
    ['when it was not checked', [], 'has not run for c0ffee on main'],
    ['when its check was cancelled', [{ ...run, conclusion: 'cancelled' }], 'ended with cancelled'],
    ['while its check runs', [{ ...run, status: 'in_progress', conclusion: null }, run], 'still runs'],
  ])('not %s', (_, workflowRuns, message) => {
    expect(() => requireGreen(commit, workflowRuns as unknown as WorkflowRun[])).toThrow(message);
  });

  it('not when GitHub does not tell', async () => {
    answers = {};
    expect(await step('node --import tsx .ci/require-green.ts')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('returned 404'),
    });
  });
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
  const find = (artifacts: readonly object[], runs: Readonly<Record<number, object>>) => {
    answers = {
      '/repos/owner/name/actions/artifacts?name=deployed-WalletEu&per_page=100': { artifacts },
      ...Object.fromEntries(
        Object.entries(runs).map(([id, each]) => [
          `/repos/owner/name/actions/runs/${id}`,
          { id: Number(id), ...each },
        ]),
      ),
    };
    return step('node --import tsx .ci/last-good.ts "$STACK"');
  };
  const artifact = (id: number, date: string, expired = false) => ({
    expired,
    created_at: date,
    workflow_run: { id },
  });

  it('is that of the newest deployment that passed smoke, whatever else is called so', async () => {
    const others = [
      { path: '.github/workflows/check.yml' },
      { head_branch: 'evil' },
      { head_repository: { full_name: 'evil/name' } },
      { head_repository: null },
      { event: 'pull_request' },
    ];
    const { exitCode, output, summary } = await find(
      [
        artifact(7, '2026-11-01'),
        artifact(8, '2026-11-03', true),
        artifact(9, '2026-11-02'),
        ...others.map((_, index) => artifact(10 + index, `2026-11-1${index}`)),
      ],
      {
        ...{ 7: run, 8: run, 9: run },
        ...Object.fromEntries(others.map((other, index) => [10 + index, { ...run, ...other }])),
      },
    );
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'run=9\n' });
    expect(summary).toContain('the assembly of 2026-11-02 is deployed again: commit abc');
  });

  it('is said to be missing', async () => {
    const { exitCode, output, summary } = await find([artifact(7, '2026-11-01', true)], {});
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: '' });
    expect(summary).toContain('There is no former assembly of WalletEu that passed smoke.');
  });

  it('is not guessed when GitHub does not tell', async () => {
    expect(await find([artifact(7, '2026-11-01')], {})).toMatchObject({ exitCode: 1 });
  });
});
