import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type LoopbackRequest,
  type LoopbackResponse,
  startLoopbackServer,
} from '../../local/network/loopback-server';
import { writeOutputs } from '../support/outputs-file';
import { accountVariables, setVariables } from './account';

/** The endpoint's response; `undefined` resets the connection. */
export type Answer = Partial<LoopbackResponse> | undefined;

/**
 * A stub of AWS for a deployed environment, set through the SDK's variables, without an `endpoints.json`
 * beside the outputs file.
 */
export async function startAwsEndpoint(
  outputsOf: (url: string) => Readonly<Record<string, Readonly<Record<string, string>>>>,
) {
  const requests: LoopbackRequest[] = [];
  let current: (request: LoopbackRequest) => Answer = () => undefined;
  const server = await startLoopbackServer(async (request) => {
    requests.push(request);
    const answer = current(request);
    if (!answer) throw new Error('The connection breaks.');
    return { status: 200, headers: {}, body: '', ...answer };
  }, 100_000);
  const directory = mkdtempSync(join(tmpdir(), 'wallet-aws-'));
  const restore = setVariables(accountVariables(server.url));
  return {
    url: server.url,
    outputs: writeOutputs(directory, outputsOf(server.url)),
    /** Since the last `answer`. */
    requests,
    answer: (answer: typeof current) => {
      requests.length = 0;
      current = answer;
    },
    async close() {
      restore();
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/** The response of SQS to `SendMessageBatch`. */
export function sentBatch(body: Buffer) {
  const entries: { Id: string; MessageBody: string }[] = JSON.parse(String(body)).Entries ?? [];
  const Successful = entries.map(({ Id, MessageBody }) => ({
    Id,
    MessageId: Id,
    MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
  }));
  return { Successful, Failed: [] };
}

export const page = (status: number): Answer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html>\n<html><title>Sign in</title></html>',
});
