import { Server } from 'node:net';
import { UsedWrongly } from '../../../cli/failure';
import { openReceiver, sourceOf } from '../../../cli/smoke/receiver';
import type { Target } from '../../../cli/target';
import { environments } from '../../../lib/environments';

const [environment] = environments;
const target = (local: boolean) => ({ local, environment }) as Target;
const signal = new AbortController().signal;

describe('the receiver', () => {
  it('takes the delivery of its event, and nothing else', async () => {
    const receiver = await openReceiver(target(true), 'evt_1', {});
    const post = async (body: string) => (await fetch(receiver.url, { method: 'POST', body })).status;
    try {
      expect((await fetch(receiver.url)).status).toBe(404);
      for (const body of ['', 'null', '[]', '{"id":"evt_2"}']) expect(await post(body)).toBe(404);
      expect(await receiver.delivery?.(0, signal)).toBeUndefined();
      expect(await post('{"id":"evt_1"}')).toBe(204);
      expect(await receiver.delivery?.(0, signal)).toMatchObject({
        body: '{"id":"evt_1"}',
        from: '127.0.0.1',
      });
    } finally {
      await receiver.close();
    }
  });

  it('is found under the given URL when it listens behind one', async () => {
    const options = { receiverUrl: 'https://tunnel.customer.com/', receiverListen: 0 };
    const receiver = await openReceiver(target(false), 'evt_1', options);
    await receiver.close();
    expect(receiver).toMatchObject({ url: options.receiverUrl, delivery: expect.any(Function) });
  });

  it('at another place does not show what arrives', async () => {
    const receiver = await openReceiver(target(false), 'evt_1', { receiverUrl: 'https://a.customer.com/' });
    expect(receiver.delivery).toBeUndefined();
  });

  it.each([[{}], [{ receiverListen: 0 }]])(
    'has to be reachable from a deployed environment: %j is refused',
    async (options) => {
      const opening = openReceiver(target(false), 'evt_1', options);
      await expect(opening).rejects.toThrow(UsedWrongly);
      await expect(opening).rejects.toMatchObject({ remedy: expect.stringContaining('--receiver-url') });
    },
  );

  it('says when its port is for root alone', async () => {
    // As root, which the tests may run as, every port can be had.
    const listen = jest.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
      process.nextTick(() => this.emit('error', Object.assign(new Error('no'), { code: 'EACCES' })));
      return this;
    });
    await expect(openReceiver(target(true), 'evt_1', { receiverListen: 80 })).rejects.toMatchObject({
      message: 'Port 80 may be listened on by root alone.',
      remedy: 'Choose one from 1024 up with --receiver-listen; 0 takes any free one.',
    });
    listen.mockRestore();
  });
});

it.each([
  ['without a proxy: the peer', '203.0.113.7', undefined, '203.0.113.7'],
  ['a tunnel on this machine: whom it saw', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['two proxies: the last public address', '127.0.0.1', '203.0.113.7, 10.0.0.4', '203.0.113.7'],
  ['a network between: itself, not what it claims', '127.0.0.1', '203.0.113.7, 198.51.100.9', '198.51.100.9'],
  ['what the sender claims before the proxy adds', '127.0.0.1', '192.0.2.1,203.0.113.7', '203.0.113.7'],
  ['this machine', '127.0.0.1', undefined, '127.0.0.1'],
  ['something that is no address', '127.0.0.1', 'unknown', '127.0.0.1'],
])('the source address with %s', (_, from, forwarded, expected) => {
  expect(sourceOf({ from, headers: { 'x-forwarded-for': forwarded } })).toBe(expected);
});
