import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { good, receiverName, ScriptedReceivers, say } from './scripted-receivers';

let scripted: ScriptedReceivers;
const folder = mkdtempSync(join(tmpdir(), 'wallet-authorities-'));

beforeAll(async () => {
  scripted = await ScriptedReceivers.start();
});
afterAll(async () => {
  await scripted.stop();
  rmSync(folder, { recursive: true });
});

/** The receiver's answers to Node.js and to us in a process that trusts its authority by `NODE_EXTRA_CA_CERTS`. */
async function postTrusting(port: number): Promise<unknown> {
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, scripted.authority.cert);
  const script = `
    const { once } = require('node:events');
    const { request } = require('node:https');
    const { createReceivers } = require('./lambda/deliver-webhook/receivers');
    const byNode = async () => {
      const outgoing = request({ host: '127.0.0.1', port: ${port}, servername: '${receiverName}' }).end();
      const [{ statusCode }] = await once(outgoing, 'response');
      return statusCode;
    };
    const byUs = () => createReceivers({
      resolve: async () => ['93.184.216.34'],
      route: () => '127.0.0.1',
    }).post({ webhookId: 'w', url: 'https://${receiverName}:${port}/', headers: {}, body: '{}' });
    (async () => {
      console.log(JSON.stringify({ byNode: await byNode(), byUs: await byUs() }));
      process.exit();
    })();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '--eval', script], {
    cwd: resolve(__dirname, '../../..'),
    env: { ...process.env, NODE_EXTRA_CA_CERTS: authority },
  });
  return JSON.parse(stdout);
}

it("trusts Mozilla's authorities, and none that a variable adds", async () => {
  const port = await scripted.tls(say(good));
  expect(await postTrusting(port)).toEqual({
    byNode: 200,
    byUs: { answered: false, reason: 'certificate_untrusted' },
  });
});
