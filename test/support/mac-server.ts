import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KMSClient } from '@aws-sdk/client-kms';

/** An endpoint on this machine that answers KMS's GenerateMac, and a client of the real SDK for it. */
export interface MacServer {
  readonly kms: KMSClient;
  /** The messages that were asked for. */
  readonly messages: string[];
  /** While true, KMS refuses. */
  failing: boolean;
  stop(): Promise<void>;
}

export async function startMacServer(): Promise<MacServer> {
  const messages: string[] = [];
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { KeyId, MacAlgorithm, Message } = JSON.parse(Buffer.concat(chunks).toString());
      messages.push(Buffer.from(Message, 'base64').toString());
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      if (server.failing) {
        response.statusCode = 400;
        response.end(
          JSON.stringify({ __type: 'KMSInvalidStateException', message: 'The key is pending deletion' }),
        );
        return;
      }
      const mac = createHmac('sha256', `key ${KeyId}`).update(Message, 'base64').digest('base64');
      response.end(JSON.stringify({ KeyId, MacAlgorithm, Mac: mac }));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const kms = new KMSClient({
    region: 'eu-central-1',
    endpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const server: MacServer = {
    kms,
    messages,
    failing: false,
    async stop() {
      kms.destroy();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}
