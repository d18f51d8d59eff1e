import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { writeEvent } from '../../../domain/event';
import { environments } from '../../../lib/environments';
import { projectRoot } from '../../architecture/sources';
import { localClient } from '../../support/aws-client';
import { eventually } from '../../support/eventually';
import { startHttpServer } from '../../support/http-server';
import { openLocalEnvironment } from '../../support/local-environment';
import type { Organization } from '../../support/organization';
import { startProject } from '../long-run';
import type { Figure, PartOptions } from './measure';

const events = 5_000;
/** Seconds between the burst and the measurement of memory, by when idle instances have ended. */
const pause = 120;

/**
 * Local environments after a burst of deliveries: how long a healthy one takes at first, while every function starts and another
 * receiver hangs, and how much memory is left after a pause.
 */
export async function measureBurst(options: PartOptions): Promise<Figure[]> {
  const { signal, cleanup, directory, effort } = options;
  const state = join(directory, 'state');
  const command = await startProject(projectRoot, state, options);
  const local = openLocalEnvironment(state);
  const sqs = new SQSClient(localClient(local.endpoints.sqs ?? ''));
  cleanup.add(() => sqs.destroy());
  /** By event. */
  const [sentAt, arrivedAt] = [new Map<string, number>(), new Map<string, number>()];
  const receiver = await startHttpServer(async (request, response) => {
    if (request.url === '/hangs') return;
    const { id } = JSON.parse(await text(request));
    arrivedAt.set(id, arrivedAt.get(id) ?? performance.now());
    response.writeHead(204).end();
  });
  cleanup.add(() => receiver.stop());

  const open = async (name: string) => {
    const { organizationId } = await local.walletJson<Organization>(name, 'seed');
    const add = (kind: string) => {
      const webhook = ['--organization', organizationId, '--url', receiver.url + kind];
      const kinds = ['--kinds', `bench.${kind}`];
      return local.walletJson<{ webhookId: string }>(name, 'webhook', 'add', ...webhook, ...kinds);
    };
    await add('healthy');
    const { webhookId } = await add('hangs');
    const QueueUrl = local.outputs(name).WebhookEventsQueueUrl;
    const removeHanging = () => local.wallet(name, 'webhook', 'remove', '--webhook', webhookId);
    const send = async (kind: string, count: number) => {
      for (let sent = 0; sent < count; sent += 10) {
        const Entries = Array.from({ length: Math.min(10, count - sent) }, (_, index) => {
          const id = `${name}-${kind}-${sent}-${index}-${sentAt.size}`;
          if (kind === 'healthy') sentAt.set(id, performance.now());
          const event = { id, organizationId, kind: `bench.${kind}`, data: '{}' };
          return { Id: String(index), MessageBody: writeEvent(event, new Date()) };
        });
        await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }), { abortSignal: signal });
      }
    };
    return { send, removeHanging };
  };
  const running = await Promise.all(environments.map(({ name }) => open(name)));
  const arrived = () => eventually(() => [...sentAt.keys()].every((id) => arrivedAt.has(id)), 600);

  const [first] = running;
  await Promise.all([first?.send('hangs', 20), first?.send('healthy', 20)]);
  await arrived();
  const slowest = Math.max(...Array.from(sentAt, ([id, at]) => (arrivedAt.get(id) ?? 0) - at));
  await Promise.all(running.map(({ removeHanging }) => removeHanging()));
  const share = Math.ceil((events * effort) / running.length);
  await Promise.all(running.map(({ send }) => send('healthy', share)));
  await arrived();
  options.progress(`burst: ${sentAt.size} deliveries made, ${command.processes().length} processes`);
  await sleep(1_000 * pause * effort, undefined, { signal });
  const processes = command.processes();
  const memory = memoryOf(processes);
  options.progress(`burst: ${processes.length} processes after the pause`);
  await command.stop();
  const limited = (what: string, value: number, unit: Figure['unit'], limit: number): Figure => {
    return { what, against: 'the limit', unit, value: [value], baseline: [limit], goal: 1 };
  };
  return [
    limited('slowest first delivery beside a receiver that hangs', slowest, 'ms', 5_000),
    limited(`memory ${Math.ceil(pause * effort)} s after the burst`, memory, 'MiB', 450),
  ];
}

/** MiB of these processes, with a share of what several have in common: https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html */
function memoryOf(processes: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of processes)
    try {
      kilobytes += Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
    } catch {
      // It has ended meanwhile.
    }
  return kilobytes / 1_024;
}
