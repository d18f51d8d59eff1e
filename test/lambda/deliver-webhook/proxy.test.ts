import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { createServer as createTlsServer } from 'node:tls';
import { projectRoot } from '../../../local/assembly/synthesis';
import { createAuthority } from '../../support/certificates';

const port = async (server: Server) => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as { port: number }).port;
};

// A proxy would resolve the name again, and connect to an address that nobody has checked. Node.js 24 reads the variables at its start.
it('sends webhooks past every proxy', async () => {
  const name = 'hooks.example.com';
  const authority = await createAuthority();
  const answer = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';
  const [receiver, plain, proxy] = [
    createTlsServer(await authority.issue({ name }), (socket) =>
      socket.once('data', () => socket.end(answer)),
    ),
    createServer((socket) => socket.once('data', () => socket.end(answer))),
    createServer((socket) => socket.destroy()),
  ];
  const proxied = jest.fn();
  proxy.on('connection', proxied);
  const urls = [`https://${name}:${await port(receiver)}/in`, `http://127.0.0.1:${await port(plain)}/in`];
  const url = `http://127.0.0.1:${await port(proxy)}`;
  const script = `
    const { createReceivers } = require('./lambda/deliver-webhook/receivers');
    const receivers = createReceivers({
      certificateAuthorities: [process.env.AUTHORITY], allowLocal: true,
      resolve: async () => ['93.184.216.34'], route: () => '127.0.0.1',
    });
    const post = (url) => receivers.post({ webhookId: 'wh-1', url, headers: {}, body: '{}' });
    Promise.all(process.argv.slice(1).map(post)).then((all) => process.stdout.write(JSON.stringify(all)));`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const env = { ...process.env, ...Object.fromEntries(names.map((each) => [each, url])), NO_PROXY: '' };
  const child = spawn(process.execPath, ['--require', 'tsx/cjs', '--eval', script, ...urls], {
    cwd: projectRoot,
    env: { ...env, NODE_USE_ENV_PROXY: '1', AUTHORITY: authority.cert },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const sent = await text(child.stdout);
  for (const server of [receiver, plain, proxy]) server.close();
  expect(JSON.parse(sent)).toEqual([
    { answered: true, status: 204 },
    { answered: true, status: 204 },
  ]);
  expect(proxied).not.toHaveBeenCalled();
});
