import { once } from 'node:events';
import { type AddressInfo, createServer, Server } from 'node:net';
import { startCommand } from '../../../cli/pasted-command';
import { portTakenDuringStart, type RequestedPort, requireFreePorts } from '../../../local/network/ports';

const api = (environment: string, port: number): RequestedPort => ({ environment, port, option: '--port' });

let occupied: Server;
let taken: number;
beforeAll(async () => {
  occupied = createServer().listen(0, '127.0.0.1');
  await once(occupied, 'listening');
  taken = (occupied.address() as AddressInfo).port;
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  occupied.close();
  await once(occupied, 'close');
});

it('accepts any number of free ports', async () => {
  await expect(requireFreePorts([api('eu', 0), api('uae', 0)])).resolves.toBeUndefined();
});

it('refuses a port that two environments want, and suggests one that none wants', async () => {
  const requested = [api('eu', 9001), api('uae', 9001), api('staging', 9002)];
  await expect(requireFreePorts(requested)).rejects.toThrow(
    'Port 9001 is wanted twice: for the API of environment eu and for the API of environment uae. ' +
      `Choose another for one of them: ${startCommand} -- --port uae=9003 (0: any free one).`,
  );
});

it('refuses a dashboard on the port of an API', async () => {
  const dashboard = { ...api('uae', 9001), option: '--dashboard-port' } as const;
  await expect(requireFreePorts([api('eu', 9001), dashboard])).rejects.toThrow(
    `for the API of environment eu and for the dashboard of environment uae. Choose another for one of them: ${startCommand} -- --dashboard-port uae=9002`,
  );
});

it('refuses a port that is taken, and suggests another', async () => {
  const refusal = requireFreePorts([api('eu', taken)]);
  await expect(refusal).rejects.toThrow(
    `Port ${taken} of environment eu is taken by another program. See which: lsof -nP -iTCP:${taken} -sTCP:LISTEN.`,
  );
  await expect(refusal).rejects.not.toThrow(`eu=${taken}`);
});

it('refuses a port that needs root', async () => {
  // The tests may run as root, who can listen on every port.
  jest.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    process.nextTick(() => this.emit('error', Object.assign(new Error('no'), { code: 'EACCES' })));
    return this;
  });
  await expect(requireFreePorts([api('eu', 80)])).rejects.toThrow(
    `Port 80 of environment eu needs root (EACCES). Choose one from 1024 up: ${startCommand} -- --port eu=9080 (0: any free one).`,
  );
});

it('explains a port that another program took during the start', async () => {
  const [error] = await once(createServer().listen(taken, '127.0.0.1'), 'error');
  expect(portTakenDuringStart(error)?.message).toContain(`Port ${taken} was taken by another program while`);
  expect(portTakenDuringStart(new Error('other'))).toBeUndefined();
});
