import { portOf, requireFreePorts } from '../../local/ports';
import { startHttpServer } from '../support/http-server';

it.each([
  ['api', 0, { offset: 0 }, 8001],
  ['dashboard', 2, { offset: 1000 }, 9103],
  ['another', 0, { offset: 0 }, 0],
  ['api', 0, 'any', 0],
] as const)('%s of environment %i with ports %j', (stage, position, ports, port) => {
  expect(portOf(stage, position, ports)).toBe(port);
});

it('lists the ports in use, and suggests an offset at which all are free', async () => {
  const taken = await Promise.all([1, 2].map(() => startHttpServer(() => undefined)));
  const ports = taken.map(({ port }) => port);
  const error: Error = await requireFreePorts(ports, 0).then(
    () => Promise.reject(),
    (refused) => refused,
  );
  for (const port of ports) expect(error.message).toContain(`Port ${port} is in use.`);
  const [, offset = ''] = /npm start -- --port-offset (\d+000)$/.exec(error.message) ?? [];
  const free = ports.map((port) => port + Number(offset));
  await requireFreePorts(free, 0);
  await Promise.all(taken.map(({ stop }) => stop()));
});
