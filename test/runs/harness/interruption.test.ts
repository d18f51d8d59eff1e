import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A command that fails when it is interrupted, as one does whose environments have gone. */
const command = `
  const { runInterruptibly } = require(${JSON.stringify(join(__dirname, 'command.ts'))});
  void runInterruptibly((signal) => new Promise((_, fail) => {
    const work = setInterval(() => undefined, 1_000);
    signal.addEventListener('abort', () => {
      clearInterval(work);
      setTimeout(() => fail(new Error('ECONNREFUSED')), 50);
    });
    console.log('working');
  }));
`;

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s: one line, and none about what fails after it',
  async (signal) => {
    const child = spawn(process.execPath, ['--require', 'tsx/cjs', '--eval', command]);
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    const closed = once(child, 'close');
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await closed).toEqual([130, null]);
    expect(said).toBe('Interrupted.\n');
  },
);
