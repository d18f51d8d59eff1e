import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type LoopbackRequest,
  type LoopbackResponse,
  startLoopbackServer,
} from '../../local/network/loopback-server';

/** What the endpoint answers; `undefined` breaks the connection. */
export type Answer = Partial<LoopbackResponse> | undefined;

const variables = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: undefined,
  AWS_PROFILE: undefined,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_MAX_ATTEMPTS: '1',
  AWS_ENDPOINT_URL: undefined,
  AWS_ENDPOINT_URL_SQS: undefined,
};

/** The SDK's variables, as they are set for the rest of a test file. @returns what puts the former ones back */
export function setVariables(values: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  return () => void setVariables(before);
}

/**
 * Something in the place of AWS for a deployed environment: the SDK's variables lead to it, and no `endpoints.json` is
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
  const directory = await mkdtemp(join(tmpdir(), 'wallet-aws-'));
  const file = join(directory, 'outputs.json');
  await writeFile(file, JSON.stringify(outputsOf(server.url)));
  const restore = setVariables({ ...variables, AWS_ENDPOINT_URL: server.url });
  return {
    url: server.url,
    outputs: file,
    /** Since the last `answer`. */
    requests,
    answer: (answer: typeof current) => {
      requests.length = 0;
      current = answer;
    },
    async close() {
      restore();
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** What SQS answers to `SendMessageBatch`. */
export function sentBatch(body: Buffer) {
  const entries: { Id: string; MessageBody: string }[] = JSON.parse(String(body)).Entries ?? [];
  const Successful = entries.map(({ Id, MessageBody }) => ({
    Id,
    MessageId: Id,
    MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
  }));
  return { Successful, Failed: [] };
}

/** A refusal in the JSON protocols. */
export const refusal = (code: string, message = 'No.', status = 400): Answer => ({
  status,
  headers: { 'x-amzn-errortype': code, 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify({ __type: code, message }),
});

export const page = (status: number): Answer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html>\n<html><title>Sign in</title></html>',
});
