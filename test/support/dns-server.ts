import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The IPv4 addresses or the fault of each name. Other names do not exist. */
export type Zone = Readonly<Record<string, readonly string[] | 'SERVFAIL' | 'silence'>>;

/** A DNS server on a free UDP port of 127.0.0.1. */
export interface DnsServer {
  /** As `Resolver.setServers` takes it. */
  readonly address: string;
  /** The queries, such as `A hooks.example.com`. */
  readonly questions: string[];
  stop(): Promise<void>;
}

const types: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' };
const responseCodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 };
const headerBytes = 12;

export async function startDnsServer(zone: Zone): Promise<DnsServer> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, client) => {
    const { name, type, bytes } = readQuestion(query);
    questions.push(`${types[type] ?? type} ${name}`);
    const known = zone[name] ?? 'NXDOMAIN';
    if (known === 'silence') return;
    const addresses = typeof known === 'string' || types[type] !== 'A' ? [] : known;
    const header = Buffer.alloc(headerBytes);
    header.set(query.subarray(0, 2));
    header.writeUInt16BE(0x8180 | responseCodes[typeof known === 'string' ? known : 'NOERROR'], 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const answers = addresses.map((address) => writeRecord(type, address.split('.').map(Number)));
    socket.send(Buffer.concat([header, bytes, ...answers]), client.port, client.address);
  });
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    async stop() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** The one question of a query. https://www.rfc-editor.org/rfc/rfc1035#section-4.1.2 */
function readQuestion(query: Buffer): {
  readonly name: string;
  readonly type: number;
  readonly bytes: Buffer;
} {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(at + 1),
    bytes: query.subarray(headerBytes, at + 5),
  };
}

/** A record of the queried name: a pointer to it, type, class, time to live 0, and the data. */
function writeRecord(type: number, data: readonly number[]): Buffer {
  return Buffer.from([0xc0, headerBytes, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data]);
}
