import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliverySignedBy, itVerifies, postTo, receiverSecret } from '../support/receiver-conformance';
import { receiverSnippet } from '../support/receiver-snippets';
import { unusedPort } from '../support/unused-port';
import { run, type Server, serve } from './tool';

interface Framework {
  readonly name: string;
  /** Writes the snippets into a folder, and builds them if they have to be. */
  build(folder: string): Promise<void>;
  server(folder: string, port: string): Server;
}

/** Debian's own, which has its frameworks. */
const python = '/usr/bin/python3';
const writePython = (heading: string) => async (folder: string) => {
  writeFileSync(join(folder, 'verify.py'), receiverSnippet('Python'));
  writeFileSync(join(folder, 'receiver.py'), receiverSnippet(heading));
};

const frameworks: readonly Framework[] = [
  {
    name: 'Flask',
    build: writePython('Flask'),
    server: (_, port) => ({
      command: python,
      args: ['-m', 'flask', '--app', 'receiver', 'run', '--host', '127.0.0.1', '--port', port],
    }),
  },
  {
    name: 'FastAPI',
    build: writePython('FastAPI'),
    server: (_, port) => ({
      command: python,
      args: ['-m', 'uvicorn', 'receiver:app', '--host', '127.0.0.1', '--port', port],
    }),
  },
  {
    name: 'Go',
    async build(folder) {
      writeFileSync(join(folder, 'receiver.go'), receiverSnippet('Go'));
      const args = ['build', '-o', join(folder, 'receiver'), join(folder, 'receiver.go')];
      // Nothing is fetched, and nothing stays: the snippet has the standard library alone.
      const env = {
        HOME: folder,
        GOCACHE: join(folder, 'cache'),
        GOPATH: join(folder, 'path'),
        GOPROXY: 'off',
      };
      const { exitCode, output } = await run('go', args, env);
      if (exitCode !== 0) throw new Error(output);
    },
    server: (folder, port) => ({
      command: join(folder, 'receiver'),
      args: [],
      env: { LISTEN: `127.0.0.1:${port}` },
    }),
  },
];

describe.each(frameworks)("the receivers' page's $name", ({ build, server }) => {
  let folder: string;
  let port: number;
  let stop: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wallet-receiver-'));
    await build(folder);
    port = await unusedPort();
    stop = await startWith(receiverSecret, port);
  }, 90_000);
  afterAll(async () => {
    await stop?.();
    rmSync(folder, { recursive: true, force: true });
  });

  const startWith = (secret: string, port: number) => {
    const { env, ...command } = server(folder, String(port));
    const shared = { WEBHOOK_SECRET: secret, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' };
    return serve({ ...command, env: { ...shared, ...env } }, port);
  };

  itVerifies((headers, body) => postTo(port, headers, body));

  it('fails by an empty secret, which anybody can sign with', async () => {
    const another = await unusedPort();
    const stopAnother = await startWith('', another);
    const { headers, body } = deliverySignedBy(Buffer.alloc(0));
    expect(await postTo(another, headers, body).finally(stopAnother)).toBe(500);
  });
});
