import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as turnOfTheEventLoop } from 'node:timers/promises';
import { type SecureContext, TLSSocket } from 'node:tls';
import { openConnection, type Target } from './connection';

/** Whose connection it is, and to where: what another connection must share for a request to go over it instead. */
export interface Receiver {
  readonly webhookId: string;
  /** The address was judged for the attempt that wants a connection now. */
  readonly target: Target;
}

interface Connecting extends Receiver {
  readonly connectSignal: AbortSignal;
}

/** Milliseconds. Servers close idle connections after 5 s and more: ours go first. */
export const idleLimit = 4_000;
/** Idle connections to one receiver, and to all. */
const maxIdlePerReceiver = 50;
export const maxIdle = 200;
/** Milliseconds for which a TLS session is resumed: as long, a certificate is not verified anew. */
const sessionLifetime = 10 * 60_000;
const maxSessions = 500;

/**
 * Node's agent, which keeps a connection between two deliveries of one webhook: never for another webhook, since a
 * receiver that many organizations use could answer the next one's request with an answer of its own making.
 *
 * Whatever comes over an idle connection closes it: no request asked for it.
 */
export class KeptConnections extends Agent {
  /** The oldest first. `since` is of `Date.now()`, which goes on while Lambda freezes the instance. */
  private readonly idle = new Map<Socket, { readonly since: number; leave(): void }>();
  private readonly sessions = new Map<string, { readonly session: Buffer; readonly until: number }>();

  /** @param route where a connection to a judged address goes instead. @default - there */
  constructor(
    private readonly secureContext: () => SecureContext,
    private readonly route: (target: Target) => Target = (target) => target,
  ) {
    super({ keepAlive: true, maxFreeSockets: maxIdlePerReceiver });
  }

  /** Whether an idle connection may be used. One that the receiver has closed is noticed when it is about to be. */
  has(receiver: Receiver): boolean {
    return this.freeSockets[nameOf(receiver)] !== undefined;
  }

  /**
   * To be awaited before a request: what was idle for too long is closed, and what has arrived in the meantime, such as the
   * receiver's end of the connection, is seen before anything is sent. Lambda's freezing stops timers.
   */
  async settle(receiver: Receiver): Promise<void> {
    const oldest = Date.now() - idleLimit;
    for (const [socket, { since }] of this.idle) {
      if (since > oldest) break;
      socket.destroy();
    }
    if (!this.has(receiver)) return;
    // From where the first one ends, the second has looked at every socket.
    await turnOfTheEventLoop();
    await turnOfTheEventLoop();
  }

  /** Closes the idle connections to the receiver. */
  forget(receiver: Receiver): void {
    for (const socket of this.freeSockets[nameOf(receiver)] ?? []) socket.destroy();
  }

  override getName(options?: ClientRequestArgs): string {
    return nameOf(options as unknown as Receiver);
  }

  override createConnection(
    options: ClientRequestArgs,
    callback: (error: Error | null, socket: Duplex) => void = () => undefined,
  ): undefined {
    const { target, connectSignal } = options as unknown as Connecting;
    const name = this.getName(options);
    openConnection(this.route(target), {
      secureContext: this.secureContext,
      session: this.sessionOf(name),
      signal: connectSignal,
    }).then(
      (socket) => {
        if (socket instanceof TLSSocket) this.keepSession(name, socket);
        callback(null, socket);
      },
      // As Node.js calls it too, and has it typed wrongly.
      (error: Error) => callback(error, undefined as unknown as Socket),
    );
    return undefined;
  }

  override keepSocketAlive(socket: Socket): boolean {
    // It says false when the receiver's `Keep-Alive` leaves no time. The types do not know that.
    if ((super.keepSocketAlive(socket) as unknown) === false) return false;
    if (this.idle.size >= maxIdle) this.idle.keys().next().value?.destroy();
    socket.setTimeout(Math.min(socket.timeout || idleLimit, idleLimit));
    const close = () => socket.destroy();
    const leave = () => {
      this.idle.delete(socket);
      socket.off('data', close).off('close', leave);
    };
    socket.on('data', close).on('close', leave);
    this.idle.set(socket, { since: Date.now(), leave });
    return true;
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    super.reuseSocket(socket, request);
    this.idle.get(socket)?.leave();
    socket.setTimeout(0);
  }

  private sessionOf(name: string): Buffer | undefined {
    const { session, until = 0 } = this.sessions.get(name) ?? {};
    return Date.now() < until ? session : undefined;
  }

  /**
   * After `secureConnect`, and so of verified connections only: a resumed one has no certificate to compare the name with.
   * A resumed session ends when the first one would have.
   */
  private keepSession(name: string, socket: TLSSocket): void {
    const { until = 0 } = (socket.isSessionReused() && this.sessions.get(name)) || {};
    const keep = (session: Buffer | undefined) => {
      if (session === undefined) return;
      this.sessions.delete(name);
      this.sessions.set(name, { session, until: until || Date.now() + sessionLifetime });
      if (this.sessions.size > maxSessions) this.sessions.delete(this.sessions.keys().next().value ?? '');
    };
    // TLS 1.3 sends its sessions later. https://nodejs.org/docs/latest-v24.x/api/tls.html#event-session
    if (socket.getProtocol() === 'TLSv1.3') socket.on('session', keep);
    else keep(socket.getSession());
  }
}

const nameOf = ({ webhookId, target: { serverName, address, port } }: Receiver): string =>
  [webhookId, serverName, address, port].join(' ');
