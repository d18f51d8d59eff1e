import { WriteStream } from 'node:tty';
import { createTerminal, table } from '../../cli/terminal';
import { writeOutputs } from '../support/outputs-file';
import { temporaryFolder } from '../support/temporary-folder';
import { wallet } from './region';

const folder = temporaryFolder();

/** A terminal with colours, and what it shows. */
function open(environment: Record<string, string> = {}) {
  const written = { out: '', err: '' };
  const stream = (name: keyof typeof written) => ({
    hasColors: () => WriteStream.prototype.hasColors({ TERM: 'xterm-256color', ...environment }),
    write: (text: string) => {
      written[name] += text;
    },
  });
  return { written, terminal: createTerminal(stream('out'), stream('err')) };
}

it('prints colours only on a terminal, and never with NO_COLOR', () => {
  const { written, terminal } = open();
  terminal.result(`${terminal.bold('x')} ${terminal.bad('y')}`);
  terminal.note(terminal.alarm('z'));
  expect(written).toEqual({ out: '\x1b[1mx\x1b[22m \x1b[31my\x1b[39m\n', err: '\x1b[31mz\x1b[39m\n' });
  const file = createTerminal({ write: () => true }, { write: () => true });
  for (const { bold, bad, alarm } of [file, open({ NO_COLOR: '1' }).terminal])
    expect([bold('x'), bad('x'), alarm('x')]).toEqual(['x', 'x', 'x']);
});

it('escapes what is written, errors about a file, and errors about an argument', async () => {
  const { written, terminal } = open();
  terminal.result('\x1b[31mred');
  terminal.note(table([['A'], ['one\ntwo']], String));
  expect(written).toEqual({ out: '\\u001b[31mred\n', err: 'A\none\\u000atwo\n' });
  const outputs = writeOutputs(folder(), { 'a\x1b]0;title\x07': {} });
  const { stderr } = await wallet('origins', '--outputs', outputs);
  expect(stderr).toContain('It has: a\\u001b]0;title\\u0007.');
  expect((await wallet('\x1b[2J')).stderr).toContain("unknown command '\\u001b[2J'");
});

const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const token = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1cyJ9.c2lnbmF0dXJl';
it.each([
  [['receive', '--scret=hunter2hunter2'], 'hunter2'],
  [[secret], secret],
  [['webhook', 'add', '--url', 'https://user:hunter2@hooks.customer.com/'], 'hunter2'],
  [['token', '--caller', token], token],
])('does not print a secret on the command line: %j', async (args, hidden) => {
  const { exitCode, stdout, stderr } = await wallet(...args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(/^error: /) });
  expect(stdout + stderr).not.toContain(hidden);
});
