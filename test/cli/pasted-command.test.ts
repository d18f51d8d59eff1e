import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { inProject, startCommand, walletCommand } from '../../cli/pasted-command';
import { sourcesIn } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const projectRoot = resolve(__dirname, '../..');

/** What a command calls, as a person pastes it elsewhere. */
const paste = (command: string) =>
  execFileSync('sh', ['-c', `npm() { printf '<%s>' "$@"; }; ${command}`], {
    cwd: folder(),
    encoding: 'utf8',
  });

it.each(['.local/outputs.json', "/srv/it's/outputs.json", '/srv/$HOME `id`/outputs.json'])(
  'a printed command leads to %s from any folder',
  (outputs) => {
    const words = ['--prefix', projectRoot, 'run', '-s', 'wallet', '--', 'webhook', 'list'];
    const place = ['--environment', 'anywhere', '--outputs', resolve(outputs)];
    expect(paste(walletCommand('webhook list', { environment: 'anywhere', outputs }))).toBe(
      [...words, ...place].map((word) => `<${word}>`).join(''),
    );
  },
);

it('the project is started, and its tools are run, from any folder', () => {
  expect(paste(startCommand)).toBe(`<--prefix><${projectRoot}><start>`);
  expect(paste(inProject('npm run synth && pwd'))).toBe(`<run><synth>${projectRoot}\n`);
});

/** Its help and its descriptions of options tell what the words are short for. */
const printedIn = (text: string) =>
  text.replaceAll(/^const help = `.*?`;$/gms, '').replaceAll(/^ *(\/\/|\*|\/\*\*|\.option|help:).*$/gm, '');
/** Commands that work in the folder of the project alone, or where `wallet` is a command of the shell. */
const bound =
  /npm run |npm start -- |with "npm start"|: npm start|`wallet |"wallet [a-z-]+"|(?<!inProject\(.)npx /;

it('what is printed names no command that works in one folder alone', () => {
  const printed = [...sourcesIn('cli'), ...sourcesIn('local')].flatMap(({ path, text }) =>
    printedIn(text)
      .split('\n')
      .filter((line) => bound.test(line.replaceAll(/inProject\((['"`]).*?\1\)/g, '')))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(printed).toEqual([]);
});
