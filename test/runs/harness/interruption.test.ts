import { once } from 'node:events';
import { join } from 'node:path';
import { startNode } from '../../support/node-process';

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
    const child = startNode('--require', 'tsx/cjs', '--eval', command);
    await once(child.process.stdout, 'data');
    child.process.kill(signal);
    expect(await child.ended()).toMatchObject({ exitCode: 130, stderr: 'Interrupted.\n' });
  },
);
