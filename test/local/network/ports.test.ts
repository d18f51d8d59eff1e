import { once } from 'node:events';
import { createServer, Server } from 'node:net';
import { portTakenMeanwhile, requireFreePorts, type WantedPort } from '../../../lib/local/network/ports';

const api = (environment: string, port: number): WantedPort => ({ environment, port, option: '--port' });

let occupied: Server;
let taken: number;
beforeAll(async () => {
  occupied = createServer().listen(0, '127.0.0.1');
  await once(occupied, 'listening');
  taken = (occupied.address() as { port: number }).port;
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  occupied.close();
  await once(occupied, 'close');
});

it('takes any free ports, as often as they are wanted', async () => {
  await expect(requireFreePorts([api('eu', 0), api('uae', 0)])).resolves.toBeUndefined();
});

it('tells who wants a port twice, and one that nobody wants', async () => {
  const wanted = [api('eu', 9001), api('uae', 9001), api('staging', 9002)];
  await expect(requireFreePorts(wanted)).rejects.toThrow(
    'Port 9001 is wanted twice: for the API of environment eu and for the API of environment uae. ' +
      'Choose another for one of them: npm start -- --port uae=9003 (0: any free one).',
  );
});

it('tells of a dashboard that wants the port of an API', async () => {
  const dashboard = { ...api('uae', 9001), option: '--dashboard-port' } as const;
  await expect(requireFreePorts([api('eu', 9001), dashboard])).rejects.toThrow(
    'for the API of environment eu and for the dashboard of environment uae. Choose another for one of them: npm start -- --dashboard-port uae=9002',
  );
});

it('tells what has a port, and to choose another than that', async () => {
  const refusal = requireFreePorts([api('eu', taken)]);
  await expect(refusal).rejects.toThrow(
    `Port ${taken} of environment eu is taken by another program. See which: lsof -nP -iTCP:${taken} -sTCP:LISTEN.`,
  );
  await expect(refusal).rejects.not.toThrow(`eu=${taken}`);
});

it('tells that a port needs root, and stops nobody for it', async () => {
  // As root, which the tests may run as, every port can be had.
  jest.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    process.nextTick(() => this.emit('error', Object.assign(new Error('no'), { code: 'EACCES' })));
    return this;
  });
  await expect(requireFreePorts([api('eu', 80)])).rejects.toThrow(
    /^Port 80 of environment eu may be listened on by root alone \(EACCES\)\. Choose one from 1024 up: npm start -- --port eu=9080 \(0: any free one\)\.$/,
  );
});

it('tells of a port that another start took meanwhile', async () => {
  const [error] = await once(createServer().listen(taken, '127.0.0.1'), 'error');
  expect(portTakenMeanwhile(error)?.message).toContain(`Port ${taken} was taken by another program while`);
  expect(portTakenMeanwhile(new Error('other'))).toBeUndefined();
});
