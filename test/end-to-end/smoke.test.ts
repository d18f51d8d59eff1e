import { request } from 'node:http';
import { join } from 'node:path';
import { environments } from '../../lib/environments';
import { startHttpServer } from '../support/http-server';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import { startWallet } from '../support/node-process';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { unusedPort } from '../support/unused-port';
import { runWallet } from '../support/wallet-command';

jest.setTimeout(60_000);

interface Report {
  readonly passed: boolean;
  readonly organizationId: string;
  readonly eventId: string;
  readonly steps: readonly { readonly name: string; readonly outcome: string; readonly detail: string }[];
}

const { name: environment, stackId } = first;
const another = environments.at(-1)?.name ?? '';
let local: LocalEnvironment;
const folder = temporaryFolder();
beforeAll(async () => {
  local = await localEnvironment();
}, 90_000);

/** The environment's outputs file with other values, as if the stack differed from its outputs. */
const withOutputs = (changed: Record<string, string>): string =>
  writeOutputs(folder(), { [stackId]: { ...local.outputs(environment), ...changed } }, local.endpoints);

async function smoke(outputs: string, ...args: string[]) {
  const command = ['smoke', '--environment', environment, '--outputs', outputs, '--json', ...args];
  const { exitCode, stdout, stderr } = await runWallet(command);
  const report = JSON.parse(stdout) as Report;
  const named = (outcome: string) =>
    report.steps.filter((step) => step.outcome === outcome).map(({ name }) => name);
  return { exitCode, report, named, stderr };
}

/** "seed" adds groups to existing organizations, and reports missing ones. */
const expectRemoved = (organizationId: string, name = environment) =>
  expect(local.wallet(name, 'seed', '--organization', organizationId)).rejects.toThrow(
    `${organizationId} is not an organization`,
  );

it.each(environments)('every step passes in $name, and its data is removed', async ({ name }) => {
  const printed = await local.wallet(name, 'smoke');
  const rows = printed.split('\n').slice(1);
  expect(rows).toHaveLength(12);
  expect(rows.filter((row) => !/^passed +\d+\.\d\d s {2}/.test(row))).toEqual([]);
  await expectRemoved(/or-[\w-]+/.exec(printed)?.[0] ?? '', name);
});

it.each<[string, () => Record<string, string>, failed: string[], skipped: string[]]>([
  [
    'an address other than the output',
    () => ({ WebhookOriginAddress: '203.0.113.7' }),
    ['check GET /webhook-origins', 'check its source address'],
    [],
  ],
  [
    'an API that does not respond',
    () => ({ ApiBaseUrl: 'http://127.0.0.1:1' }),
    ['delete its group through the API', 'check GET /webhook-origins'],
    ['delete it again: expect 404', 'find the audit record'],
  ],
  [
    'a signature by the key of another stack',
    () => ({ WebhookSecretsKeyArn: local.outputs(another).WebhookSecretsKeyArn ?? '' }),
    ['verify its signature'],
    [],
  ],
])(
  '%s is a failure, the rest is checked all the same, and it cleans up',
  async (_, changed, failed, skipped) => {
    const { exitCode, report, named, stderr } = await smoke(withOutputs(changed()));
    expect(exitCode).toBe(1);
    expect(report.passed).toBe(false);
    expect(named('failed')).toEqual(failed);
    expect(named('skipped')).toEqual(skipped);
    expect(named('passed')).toHaveLength(12 - failed.length - skipped.length);
    expect(stderr).toContain(`${named('passed').length} passed, ${failed.length} failed`);
    await expectRemoved(report.organizationId);
  },
);

it('with another receiver, prints what it cannot check', async () => {
  const receiver = await startHttpServer((_, response) => response.writeHead(200).end());
  const { exitCode, report, named } = await smoke(withOutputs({}), '--receiver-url', receiver.url);
  expect(exitCode).toBe(0);
  expect(named('unchecked')).toEqual([
    'receive the delivery',
    'verify its signature',
    'check its source address',
  ]);
  expect(report.steps.at(-2)).toMatchObject({
    outcome: 'passed',
    detail: expect.stringContaining('status 200'),
  });
  await receiver.stop();
  await expectRemoved(report.organizationId);
});

it('behind a proxy, the source address is the one that the proxy saw', async () => {
  const WebhookOriginAddress = '203.0.113.7';
  const port = await unusedPort();
  const proxy = await startHttpServer((incoming, response) => {
    const headers = { ...incoming.headers, 'x-forwarded-for': WebhookOriginAddress };
    const onward = request({ host: '127.0.0.1', port, method: 'POST', headers }, ({ statusCode = 502 }) =>
      response.writeHead(statusCode).end(),
    );
    incoming.pipe(onward);
  });
  const { report, named } = await smoke(
    withOutputs({ WebhookOriginAddress }),
    ...['--receiver-listen', String(port), '--receiver-url', proxy.url],
  );
  await proxy.stop();
  expect(named('failed')).toEqual(['check GET /webhook-origins']);
  expect(report.steps).toContainEqual(
    expect.objectContaining({
      name: 'check its source address',
      outcome: 'passed',
      detail: WebhookOriginAddress,
    }),
  );
});

describe('cleans up and exits on', () => {
  const smoke = () => {
    const options = ['--environment', environment, '--outputs', join(local.stateDirectory, 'outputs.json')];
    return startWallet('smoke', ...options, '--receiver-url', 'http://127.0.0.1:1/');
  };
  const organizationIn = (printed: string) => /or-[\w-]+/.exec(printed)?.[0] ?? '';

  it('Ctrl-C', async () => {
    const { process: child, said, ended } = smoke();
    child.stdout.on('data', () => {
      if (said.stdout.includes('verify its signature') && !child.killed) child.kill('SIGINT');
    });
    const { exitCode, stdout: printed } = await ended();
    expect(exitCode).toBe(1);
    expect(printed).toMatch(/skipped +\d+\.\d\d s {2}find it in the delivery log +interrupted/);
    expect(printed).toMatch(/passed +\d+\.\d\d s {2}clean up/);
    await expectRemoved(organizationIn(printed));
  });

  it('a closed output, as with head', async () => {
    const { process: child, said, ended } = smoke();
    child.stdout.on('data', () => organizationIn(said.stdout) && child.stdout.destroy());
    const { exitCode, stdout, stderr } = await ended();
    expect(exitCode).toBe(1);
    expect(stderr).not.toContain('Error');
    await expectRemoved(organizationIn(stdout));
  });
});
