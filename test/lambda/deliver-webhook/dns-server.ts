import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The IPv4 addresses or the fault of each name. Other names do not exist. */
export type Zone = Readonly<Record<string, readonly string[] | 'SERVFAIL' | 'silence'>>;

const headerBytes = 12;
const codes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 };

/** A DNS server on a free UDP port of 127.0.0.1. https://www.rfc-editor.org/rfc/rfc1035#section-4.1 */
export async function startDnsServer(zone: Zone) {
  /** The queries, such as `1 hooks.example.com`: 1 is the type A. */
  const questions: string[] = [];
  const socket = createSocket('udp4').on('message', (query, client) => {
    // One question: the labels of the name, each after its length, then type and class.
    const end = query.indexOf(0, headerBytes) + 5;
    const name = query
      .toString('latin1', headerBytes + 1, end - 5)
      .replace(/[^\w-]/g, '.')
      .toLowerCase();
    const type = query.readUInt16BE(end - 4);
    questions.push(`${type} ${name}`);
    const known = zone[name] ?? 'NXDOMAIN';
    if (known === 'silence') return;
    const [code, addresses] = typeof known === 'string' ? [codes[known], []] : [codes.NOERROR, known];
    // Each: a pointer to the queried name, type, class, time to live 0, length, and the address.
    const answers = addresses.flatMap((address) => [
      ...[0xc0, headerBytes, 0, type, 0, 1, 0, 0, 0, 0, 0, 4],
      ...address.split('.').map(Number),
    ]);
    const header = [...query.subarray(0, 2), 0x81, 0x80 | code, 0, 1, 0, addresses.length, 0, 0, 0, 0];
    const response = Buffer.concat([
      Buffer.from(header),
      query.subarray(headerBytes, end),
      Buffer.from(answers),
    ]);
    socket.send(response, client.port, client.address);
  });
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  return {
    /** As `Resolver.setServers` takes it. */
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    stop: () => once(socket.close(), 'close'),
  };
}
