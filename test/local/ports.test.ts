import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { portOf, requireFreePorts } from '../../local/ports';

it.each([
  ['api', 0, { offset: 0 }, 8001],
  ['dashboard', 0, { offset: 0 }, 8101],
  ['api', 2, { offset: 1000 }, 9003],
  ['another', 0, { offset: 0 }, 0],
  ['api', 0, 'any', 0],
] as const)('%s of environment %i with ports %j', (stage, position, ports, port) => {
  expect(portOf(stage, position, ports)).toBe(port);
});

const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done)))));

async function listen(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

it('lists the ports in use, and suggests an offset at which all are free', async () => {
  const [one, two] = [await listen(0), await listen(0)];
  const error: Error = await requireFreePorts([one, two], 0).then(
    () => Promise.reject(),
    (refused) => refused,
  );
  for (const port of [one, two]) expect(error.message).toContain(`Port ${port} is in use.`);
  const [, offset = ''] = /npm start -- --port-offset (\d+000)$/.exec(error.message) ?? [];
  const free = [one, two].map((port) => port + Number(offset));
  await requireFreePorts(free, 0);
  for (const port of free) await listen(port);
});
