import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../lib/operations/command-line';
import { createTerminal } from '../../lib/operations/terminal';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import { unusedPort } from '../support/unused-port';

jest.setTimeout(60_000);

interface Report {
  readonly passed: boolean;
  readonly organizationId: string;
  readonly eventId: string;
  readonly steps: readonly { readonly name: string; readonly outcome: string; readonly detail: string }[];
}

const environment = 'staging';
const stackId = 'WalletStaging';
let local: LocalEnvironment;
let directory: string;
beforeAll(async () => {
  local = await localEnvironment();
  directory = await mkdtemp(join(tmpdir(), 'wallet-smoke-'));
}, 90_000);
afterAll(() => rm(directory, { recursive: true }));

/** The environment's outputs file with other values, as if the stack were not as its outputs say. */
async function withOutputs(changed: Record<string, string>): Promise<string> {
  const outputs = JSON.parse(await readFile(join(local.stateDirectory, 'outputs.json'), 'utf8'));
  const file = join(directory, 'outputs.json');
  await writeFile(file, JSON.stringify({ [stackId]: { ...outputs[stackId], ...changed } }));
  await writeFile(join(directory, 'endpoints.json'), JSON.stringify(local.endpoints));
  return file;
}

async function smoke(outputs: string, ...args: string[]) {
  const written = { stdout: '', stderr: '' };
  const record = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const terminal = createTerminal(record('stdout'), record('stderr'));
  const command = ['smoke', '--environment', environment, '--outputs', outputs, '--json', ...args];
  const exitCode = await runCommandLine(command, terminal);
  const report = JSON.parse(written.stdout) as Report;
  const named = (outcome: string) =>
    report.steps.filter((step) => step.outcome === outcome).map(({ name }) => name);
  return { exitCode, report, named, stderr: written.stderr };
}

/** "seed" adds groups to organizations that are there, and says which are not. */
const expectRemoved = (organizationId: string) =>
  expect(local.wallet(environment, 'seed', '--organization', organizationId)).rejects.toThrow(
    `${organizationId} is not an organization`,
  );

it('every step passes, and what it made is gone', async () => {
  const printed = await local.wallet(environment, 'smoke');
  const rows = printed.split('\n').slice(1);
  expect(rows).toHaveLength(12);
  expect(rows.filter((row) => !/^passed +\d+\.\d\d s {2}/.test(row))).toEqual([]);
  await expectRemoved(/or-[\w-]+/.exec(printed)?.[0] ?? '');
});

it('an address other than the output is a failure, of both who tells it, and it cleans up', async () => {
  const { exitCode, report, named, stderr } = await smoke(
    await withOutputs({ WebhookOriginAddress: '203.0.113.7' }),
  );
  expect(exitCode).toBe(1);
  expect(report.passed).toBe(false);
  expect(named('failed')).toEqual(['compare GET /webhook-origins', 'compare its source address']);
  expect(named('skipped')).toEqual([]);
  expect(stderr).toContain('10 passed, 2 failed');
  await expectRemoved(report.organizationId);
});

it('an API that does not respond is a failure, the webhooks are checked all the same, and it cleans up', async () => {
  const { exitCode, report, named } = await smoke(await withOutputs({ ApiBaseUrl: 'http://127.0.0.1:1' }));
  expect(exitCode).toBe(1);
  expect(named('failed')).toEqual(['delete its user group by the API', 'compare GET /webhook-origins']);
  expect(named('skipped')).toEqual(['delete it again: it is gone', 'find the deletion in the audit']);
  expect(named('passed')).toContain('verify its signature');
  await expectRemoved(report.organizationId);
});

it('a signature by the key of another stack is a failure', async () => {
  const { WebhookSecretsKeyArn = '' } = local.outputs('eu');
  const { exitCode, report, named } = await smoke(await withOutputs({ WebhookSecretsKeyArn }));
  expect(exitCode).toBe(1);
  expect(named('failed')).toEqual(['verify its signature']);
  await expectRemoved(report.organizationId);
});

describe('with another receiver', () => {
  let receiver: Server;
  let url: string;
  let status: number;
  beforeAll(async () => {
    receiver = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    receiver.close();
    await once(receiver, 'close');
  });

  it('it says what it cannot check', async () => {
    status = 200;
    const { exitCode, report, named } = await smoke(await withOutputs({}), '--receiver-url', url);
    expect(exitCode).toBe(0);
    expect(named('unchecked')).toEqual([
      'receive the delivery',
      'verify its signature',
      'compare its source address',
    ]);
    expect(report.steps.at(-2)).toMatchObject({
      outcome: 'passed',
      detail: expect.stringContaining('answered 200'),
    });
    await expectRemoved(report.organizationId);
  });

  it('one that refuses is a failure, with its status', async () => {
    status = 410;
    const { exitCode, report } = await smoke(await withOutputs({}), '--receiver-url', url);
    expect(exitCode).toBe(1);
    expect(report.steps.at(-2)).toMatchObject({
      outcome: 'failed',
      detail: expect.stringMatching(/disabled.*410/),
    });
    await expectRemoved(report.organizationId);
  });
});

it('behind a proxy, the source address is whom the proxy saw', async () => {
  const WebhookOriginAddress = '203.0.113.7';
  const port = await unusedPort();
  const proxy = createServer((incoming, response) => {
    const headers = { ...incoming.headers, 'x-forwarded-for': WebhookOriginAddress };
    const onward = request({ host: '127.0.0.1', port, method: 'POST', headers }, ({ statusCode = 502 }) =>
      response.writeHead(statusCode).end(),
    );
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`;
  const { report, named } = await smoke(
    await withOutputs({ WebhookOriginAddress }),
    ...['--receiver-listen', String(port), '--receiver-url', url],
  );
  proxy.close();
  await once(proxy, 'close');
  expect(named('failed')).toEqual(['compare GET /webhook-origins']);
  expect(report.steps).toContainEqual(
    expect.objectContaining({
      name: 'compare its source address',
      outcome: 'passed',
      detail: WebhookOriginAddress,
    }),
  );
});

describe('is ended, after it has cleaned up, by', () => {
  function smoke() {
    const options = ['--environment', environment, '--outputs', join(local.stateDirectory, 'outputs.json')];
    const unserved = ['--receiver-url', 'http://127.0.0.1:1/'];
    const program = ['--import', 'tsx', 'bin/wallet.ts', 'smoke', ...options, ...unserved];
    return spawn(process.execPath, program, {
      cwd: join(__dirname, '../..'),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
  const organizationIn = (printed: string) => /or-[\w-]+/.exec(printed)?.[0] ?? '';

  it.each([
    ['Ctrl-C', 'SIGINT'],
    ['a terminal that is closed', 'SIGHUP'],
  ] as const)('%s', async (_, signal) => {
    const child = smoke();
    const exited = once(child, 'exit');
    let printed = '';
    child.stderr.resume();
    for await (const chunk of child.stdout) {
      printed += chunk;
      if (printed.includes('verify its signature') && !child.killed) child.kill(signal);
    }
    expect(await exited).toEqual([1, null]);
    expect(printed).toMatch(/skipped +\d+\.\d\d s {2}find the attempt recorded +interrupted/);
    expect(printed).toMatch(/passed +\d+\.\d\d s {2}clean up/);
    await expectRemoved(organizationIn(printed));
  });

  it('a reader of its output that ends, as head does', async () => {
    const child = smoke();
    const exited = once(child, 'exit');
    let printed = '';
    let problems = '';
    child.stderr.on('data', (chunk) => {
      problems += chunk;
    });
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      if (organizationIn(printed)) child.stdout.destroy();
    });
    expect(await exited).toEqual([1, null]);
    expect(problems).not.toContain('Error');
    await expectRemoved(organizationIn(printed));
  });
});
