import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { projectRoot } from '../../../local/assembly/synthesis';

const port = async (server: Server) => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as { port: number }).port;
};

// A proxy would resolve the name again, and connect to an address that nobody has checked. Node.js 24 reads the variables at its start.
it('sends webhooks past every proxy', async () => {
  const answer = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';
  const receiver = createServer((socket) => socket.once('data', () => socket.end(answer)));
  const proxied = jest.fn();
  const proxy = createServer((socket) => socket.destroy()).on('connection', proxied);
  const url = `http://127.0.0.1:${await port(receiver)}/in`;
  const script = `
    const { createReceivers } = require('./lambda/deliver-webhook/receivers');
    const request = { webhookId: 'wh-1', url: process.argv[1], headers: {}, body: '{}' };
    const print = (result) => process.stdout.write(JSON.stringify(result));
    createReceivers({ allowLocal: true }).post(request).then(print);`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const proxyUrl = `http://127.0.0.1:${await port(proxy)}`;
  const env = { ...process.env, ...Object.fromEntries(names.map((each) => [each, proxyUrl])), NO_PROXY: '' };
  const child = spawn(process.execPath, ['--require', 'tsx/cjs', '--eval', script, url], {
    cwd: projectRoot,
    env: { ...env, NODE_USE_ENV_PROXY: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const sent = await text(child.stdout);
  for (const server of [receiver, proxy]) server.close();
  expect(JSON.parse(sent)).toEqual({ answered: true, status: 204 });
  expect(proxied).not.toHaveBeenCalled();
});
