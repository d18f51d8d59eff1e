import { createHmac } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { KMSClient } from '@aws-sdk/client-kms';
import { localClient } from './aws-client';
import { startHttpServer } from './http-server';

/** A local endpoint for KMS's GenerateMac, and a real SDK client for it. */
export interface MacServer {
  readonly kms: KMSClient;
  /** The requested messages. */
  readonly messages: string[];
  /** While true, KMS refuses. */
  failing: boolean;
  stop(): Promise<void>;
}

export async function startMacServer(): Promise<MacServer> {
  const messages: string[] = [];
  const http = await startHttpServer(async (request, response) => {
    const { KeyId, MacAlgorithm, Message } = (await json(request)) as Record<string, string>;
    messages.push(Buffer.from(Message ?? '', 'base64').toString());
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    if (server.failing) {
      const message = 'The key is pending deletion';
      response.writeHead(400).end(JSON.stringify({ __type: 'KMSInvalidStateException', message }));
      return;
    }
    const mac = createHmac('sha256', `key ${KeyId}`)
      .update(Message ?? '', 'base64')
      .digest('base64');
    response.end(JSON.stringify({ KeyId, MacAlgorithm, Mac: mac }));
  });
  const kms = new KMSClient(localClient(http.url));
  const server: MacServer = {
    kms,
    messages,
    failing: false,
    async stop() {
      kms.destroy();
      await http.stop();
    },
  };
  return server;
}
