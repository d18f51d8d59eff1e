import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LoopbackServer, startLoopbackServer } from '../../local/network/loopback-server';
import { projectRoot } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

const marker = '<!-- the stacks of this change -->';
const folder = temporaryFolder();

/** GitHub's comments of one pull request, two on a page: https://docs.github.com/en/rest/issues/comments. */
let github: LoopbackServer;
let comments: { login: string; body: string }[];
let refusal: number | undefined;
beforeEach(async () => {
  comments = [];
  refusal = undefined;
  github = await startLoopbackServer(async ({ method, url, headers, body }) => {
    const answer = (status: number, json: unknown, link = '') => ({
      status,
      headers: { link },
      body: JSON.stringify(json),
    });
    if (headers.authorization !== 'Bearer token') return answer(401, { message: 'Bad credentials' });
    if (refusal && method !== 'GET') return answer(refusal, { message: 'Resource not accessible' });
    const { pathname, searchParams } = new URL(url, github.url);
    if (method === 'GET' && pathname === '/repos/owner/name/issues/7/comments') {
      const page = Number(searchParams.get('page') ?? 1);
      const shown = comments.map((comment, index) => ({
        url: `${github.url}/repos/owner/name/issues/comments/${index}`,
        body: comment.body,
        user: { login: comment.login },
      }));
      const next = `<${github.url}${pathname}?page=${page + 1}>; rel="next"`;
      return answer(200, shown.slice(2 * page - 2, 2 * page), 2 * page < comments.length ? next : '');
    }
    const sent = { login: 'github-actions[bot]', body: JSON.parse(String(body)).body };
    const [, index] = /^\/repos\/owner\/name\/issues\/comments\/(\d+)$/.exec(pathname) ?? [];
    if (method === 'PATCH' && index) comments[Number(index)] = sent;
    else if (method === 'POST' && pathname === '/repos/owner/name/issues/7/comments') comments.push(sent);
    else return answer(404, { message: 'Not Found' });
    return answer(200, {});
  }, 1_000_000);
});
afterEach(() => github.close());

async function comment(text: string, token = 'token'): Promise<{ stderr: string; code?: number }> {
  const file = join(folder(), 'diff.md');
  writeFileSync(file, text);
  const env = {
    GITHUB_API_URL: github.url,
    GITHUB_REPOSITORY: 'owner/name',
    GITHUB_RUN_ID: '42',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_TOKEN: token,
    PULL_REQUEST: '7',
  };
  const run = promisify(execFile)(process.execPath, ['.ci/comment.js', file], { cwd: projectRoot, env });
  return run.catch((error) => error);
}

const bot = (body: string) => ({ login: 'github-actions[bot]', body });

it('comments, and writes over its own comment the next time', async () => {
  comments = [bot('of another workflow'), { login: 'someone', body: `${marker}\nquoted` }, bot('a third')];
  const others = [...comments];
  await comment('first');
  expect(comments).toEqual([...others, bot(`${marker}\nfirst`)]);
  await comment('second');
  expect(comments).toEqual([...others, bot(`${marker}\nsecond`)]);
});

it('cuts what GitHub would refuse, and says where the rest is', async () => {
  await comment(`${'`'.repeat(4)}\n${'x'.repeat(70_000)}`);
  expect(comments[0]?.body).toHaveLength(65_536);
  const [readable] = comments[0]?.body.split('````') ?? [];
  expect(readable).toContain('](https://github.com/owner/name/actions/runs/42)');
});

it.each([
  ['token', 403, 'GitHub returned 403 (Resource not accessible). The job needs pull-requests: write.'],
  ['other', undefined, 'GitHub returned 401 (Bad credentials).'],
])('fails with what GitHub says: %s, %s', async (token, status, message) => {
  refusal = status;
  const { code, stderr } = await comment('text', token);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`error: ${message}`) });
  expect(comments).toEqual([]);
});
