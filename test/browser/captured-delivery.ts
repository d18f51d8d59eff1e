import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { LocalEnvironment } from '../support/local-environment';

const projectRoot = resolve(__dirname, '../..');

/** A webhook as its receiver got it, and the secret that the receiver was given. */
export interface CapturedDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly secret: string;
}

/** Has an environment deliver an event to `wallet receive`, through all that is in between. */
export async function captureDelivery(
  local: LocalEnvironment,
  environment: string,
): Promise<CapturedDelivery> {
  const outputs = join(local.stateDirectory, 'outputs.json');
  const command = ['receive', '--json', '--port', '0', '--environment', environment, '--outputs', outputs];
  const receiver = spawn(process.execPath, ['--import', 'tsx', 'bin/wallet.ts', ...command], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(receiver, 'close');
  try {
    const { organizationId } = await local.walletJson<{ organizationId: string }>(environment, 'seed');
    const to = ['--organization', organizationId];
    const [, url = ''] = /Listening on (\S+) /.exec(await firstLine(receiver.stderr)) ?? [];
    const { secret } = await local.walletJson<{ secret: string }>(
      environment,
      'webhook',
      'add',
      ...to,
      '--url',
      url,
    );
    const event = ['--kind', 'wallet.created', '--data', '{"walletId":"wa-1","name":"Zürich €"}'];
    const [line] = await Promise.all([
      firstLine(receiver.stdout),
      local.walletJson(environment, 'send-event', ...to, ...event),
    ]);
    const { headers, body } = JSON.parse(line) as Pick<CapturedDelivery, 'headers' | 'body'>;
    return { headers, body, secret };
  } finally {
    receiver.kill('SIGINT');
    await ended;
  }
}

async function firstLine(stream: Readable): Promise<string> {
  const [line] = await once(createInterface({ input: stream }), 'line');
  return line as string;
}

/** As lines, the way a log or `curl -v` has them. */
export const asLines = (headers: CapturedDelivery['headers']): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
