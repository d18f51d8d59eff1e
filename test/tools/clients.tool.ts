import { execFile } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type HttpServer, startHttpServer } from '../support/http-server';
import { expectDocumented, openApiFile } from '../support/openapi';
import { temporaryFolder } from '../support/temporary-folder';

// Installs the generators, from npm and PyPI.
jest.setTimeout(600_000);

const folder = temporaryFolder();
const problem = {
  type: 'urn:wallet-infrastructure:problem:user_action_missing',
  ...{ title: 'Forbidden', status: 403, detail: 'It is missing.' },
  ...{ code: 'user_action_missing', requestId: '1' },
};
/** Deletes a group with the generated types. Compiles only if they have the code. */
const readCode = (url: string) => `
  import createClient from 'openapi-fetch';
  import type { paths } from './schema';
  const path = { userGroupId: 'ug-1a2b3-c4d5e-f6g7h8i9j0k1l2m3' };
  const headers = { authorization: 'Bearer token', 'x-svc-useraction': 'action' };
  createClient<paths>({ baseUrl: '${url}' })
    .DELETE('/auth/user-groups/{userGroupId}', { params: { path }, headers })
    .then(({ error, response }) => {
      const code: 'user_action_missing' | false = error?.code === 'user_action_missing' && error.code;
      console.log(response.status, code);
    });`;

let server: HttpServer;
beforeEach(async () => {
  cpSync(join(__dirname, 'clients'), folder(), { recursive: true });
  server = await startHttpServer(({ method = '', url: path = '' }, response) => {
    const [status, contentType, body] = [403, 'application/problem+json', JSON.stringify(problem)];
    expectDocumented({ method, path, status, contentType, body });
    response.writeHead(status, { 'content-type': contentType }).end(body);
  });
});
afterEach(() => server.stop());

async function run(command: string, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(command, args, { cwd: folder() });
  return stdout + stderr;
}

it('openapi-python-client keeps all responses, and its client reads the code of a 403', async () => {
  await run('python3', '-m', 'venv', 'venv');
  const install = ['install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt'];
  await run('venv/bin/pip', ...install);
  const generated = await run(
    'venv/bin/openapi-python-client',
    ...['generate', '--path', openApiFile, '--output-path', 'client', '--meta', 'none', '--overwrite'],
  );
  expect(generated).not.toMatch(/cannot parse|will be omitted|ignored/i);
  const client = 'wallet_infrastructure_service_client';
  cpSync(join(folder(), 'client'), join(folder(), client), { recursive: true });
  expect(await run('venv/bin/python', 'read_code.py', server.url)).toBe('403 user_action_missing\n');
});

it('openapi-typescript has the code of each response in its types, and its client reads that of a 403', async () => {
  await run('npm', 'install', '--silent', '--no-audit', '--no-fund');
  await run('node_modules/.bin/openapi-typescript', openApiFile, '--output', 'schema.d.ts');
  writeFileSync(join(folder(), 'read-code.ts'), readCode(server.url));
  const options = '--strict --module nodenext --target es2022 --lib es2023,dom --skipLibCheck';
  await run('node_modules/.bin/tsc', 'read-code.ts', ...options.split(' '));
  expect(await run('node', 'read-code.js')).toBe('403 user_action_missing\n');
});
