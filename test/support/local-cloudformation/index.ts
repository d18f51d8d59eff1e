import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type LoopbackRequest,
  type LoopbackResponse,
  type LoopbackServer,
  startLoopbackServer,
} from '../../../local/network/loopback-server';
import { writeOutputs } from '../outputs-file';
import { Account } from './account';
import { type Answers, cloudFormation, ec2, json, Refusal } from './answers';
import { type Protocol, readQuery, writeRefusal, writeResult } from './query-protocol';
import { Stack } from './stack';
import { type Json, Template } from './template';

/** One call of an SDK. */
export interface Call {
  /** Counted from 1. */
  readonly number: number;
  readonly action: string;
  readonly input: Json;
}

/**
 * What becomes of a call: it is served; refused as throttled; its connection breaks before or after it took effect;
 * or it is refused for good, before or after it took effect, which ends a command there as a kill would.
 */
export type Fate = 'serve' | 'throttle' | 'lose-request' | 'lose-answer' | 'end-before' | 'end-after';

/**
 * AWS with one deployed environment, on a free port of 127.0.0.1, for the real SDK. Time passes with each call: the
 * update under way takes some steps.
 */
export class LocalCloud {
  readonly stack: Stack;
  readonly calls: Call[] = [];
  /** Decides what becomes of a call. */
  fate: (call: Call) => Fate | Promise<Fate> = () => 'serve';
  /** Steps of an update for each call. */
  stepsPerCall = 3;
  /** The outputs file of the deployment. */
  outputs = '';
  private directory = '';
  private server: LoopbackServer | undefined;

  private constructor(
    stackName: string,
    template: Json,
    readonly account: Account,
  ) {
    this.stack = new Stack(stackName, new Template(template), this.account);
  }

  /**
   * Deploys the template, with its default parameters, and writes an outputs file with the endpoints beside it.
   *
   * @param account with what is in it already. @default - an empty one
   */
  static async start(stackName: string, template: Json, account = new Account()): Promise<LocalCloud> {
    const cloud = new LocalCloud(stackName, template, account);
    cloud.server = await startLoopbackServer((request) => cloud.answer(request), 1_000_000);
    const { url } = cloud.server;
    const services = ['cloudformation', 'cloudwatch', 'ec2', 'lambda', 'sqs'];
    const endpoints = Object.fromEntries(services.map((service) => [service, url]));
    cloud.directory = mkdtempSync(join(tmpdir(), 'wallet-cloud-'));
    cloud.outputs = writeOutputs(cloud.directory, { [stackName]: cloud.stack.originOutputs }, endpoints);
    return cloud;
  }

  async stop(): Promise<void> {
    await this.server?.close();
    rmSync(this.directory, { recursive: true });
  }

  /** @throws Error, at which the server breaks the connection, for a call that is lost */
  private async answer(request: LoopbackRequest): Promise<LoopbackResponse> {
    const { action, input, answers, protocol } = readCall(request);
    const call = { number: this.calls.length + 1, action, input };
    this.calls.push(call);
    const fate = await this.fate(call);
    for (let step = 0; step < this.stepsPerCall; step++) this.stack.tick();
    if (fate === 'lose-request') throw new Error(fate);
    try {
      if (fate === 'throttle') throw new Refusal('Throttling', 'Rate exceeded');
      if (fate === 'end-before') throw new Refusal('AccessDenied', 'The command ends here');
      const respond = answers[action];
      if (!respond) throw new Refusal('InvalidAction', `${action} is not served here`);
      const result = respond(input, this.stack);
      if (fate === 'end-after') throw new Refusal('AccessDenied', 'The command ends here');
      if (fate === 'lose-answer') throw new Error(fate);
      return atTheTime(writeResult(protocol, action, result));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return atTheTime(writeRefusal(protocol, error.code, error.message));
    }
  }
}

/** In the time of the test: the SDK repeats a call to a service whose clock goes otherwise than its own. */
const atTheTime = (response: LoopbackResponse): LoopbackResponse => ({
  ...response,
  headers: { ...response.headers, date: new Date(Date.now()).toUTCString() },
});

function readCall({ url, headers, body }: LoopbackRequest): {
  action: string;
  input: Json;
  answers: Answers;
  protocol: Protocol;
} {
  const mapping = /^\/2015-03-31\/event-source-mappings\/([^/?]+)/.exec(url)?.[1];
  if (mapping) {
    const input = { UUID: decodeURIComponent(mapping) };
    return { action: 'GetEventSourceMapping', input, answers: json, protocol: 'json' };
  }
  const target = headers['x-amz-target'];
  if (typeof target === 'string') {
    const action = target.split('.').at(-1) ?? '';
    return { action, input: JSON.parse(String(body)), answers: json, protocol: 'json' };
  }
  const { Action, Version, ...input } = readQuery(String(body));
  return Version === '2016-11-15'
    ? { action: Action, input, answers: ec2, protocol: 'ec2' }
    : { action: Action, input, answers: cloudFormation, protocol: 'query' };
}
