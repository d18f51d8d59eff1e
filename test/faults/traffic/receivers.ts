import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { oneOf } from '../../support/random';

/** A webhook that was added for a receiver here. */
export interface Subscription {
  readonly environment: string;
  readonly webhookId: string;
  /** `whsec_…` */
  readonly secret: string;
}

/** Ways to misbehave that leave a delivery undone. */
const misbehaviours = ['500', '429', 'redirect', 'hang', 'reset', 'drip'] as const;

/** An HTTP server that receives webhooks under `/WEBHOOK_ID`, checks them as a receiver does and counts them. */
export class Receiver {
  /** While true, most requests are answered badly or not at all. */
  misbehaves = false;
  private readonly subscriptions = new Map<
    string,
    { readonly webhook: Webhook; readonly accepted: Set<string> }
  >();
  private readonly drips = new Set<NodeJS.Timeout>();
  private readonly server: Server;

  private constructor(
    private readonly random: () => number,
    private readonly onViolation: (violation: string) => void,
  ) {
    this.server = createServer((request, response) => this.receive(request, response));
  }

  static async start(random: () => number, onViolation: (violation: string) => void): Promise<Receiver> {
    const receiver = new Receiver(random, onViolation);
    await new Promise<void>((listening) => receiver.server.listen(0, '127.0.0.1', listening));
    return receiver;
  }

  urlOf(name: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/${name}`;
  }

  /** @param name the last part of the webhook's URL */
  subscribe(name: string, { secret }: Subscription): void {
    this.subscriptions.set(name, { webhook: new Webhook(secret), accepted: new Set() });
  }

  /** Whether it has answered the event with 2xx. */
  hasAccepted(name: string, eventId: string): boolean {
    return this.subscriptions.get(name)?.accepted.has(eventId) ?? false;
  }

  async stop(): Promise<void> {
    for (const drip of this.drips) clearInterval(drip);
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = request.url?.slice(1) ?? '';
    let body = '';
    try {
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
    } catch {
      // The function that sent it was killed.
      return;
    }
    if (this.misbehaves && this.random() < 0.8) return this.misbehave(request, response);
    const subscription = this.subscriptions.get(name);
    if (!subscription) return void response.writeHead(404).end();
    try {
      const event = subscription.webhook.verify(body, request.headers as Record<string, string>);
      response.writeHead(204).end();
      subscription.accepted.add((event as { readonly id: string }).id);
    } catch (error) {
      this.onViolation(`a webhook could not be verified: ${(error as Error).message}`);
      response.writeHead(401).end();
    }
  }

  private misbehave(request: IncomingMessage, response: ServerResponse): void {
    switch (oneOf(this.random, misbehaviours)) {
      case '500':
        return void response.writeHead(500).end('no');
      case '429':
        return void response.writeHead(429, { 'retry-after': '2' }).end();
      case 'redirect':
        return void response.writeHead(302, { location: this.urlOf('elsewhere') }).end();
      case 'hang':
        return;
      case 'reset':
        return void request.socket.resetAndDestroy();
      case 'drip': {
        response.writeHead(503);
        const drip = setInterval(() => response.write('.'), 500);
        this.drips.add(drip);
        response.on('close', () => clearInterval(drip));
      }
    }
  }
}
