import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { localEnvironment } from '../support/local-environment';

/** A machine with nothing but Node.js has no curl: this one knows what the printed command uses, and prints the answer. */
const curl = `
const headers = {};
const [url] = process.argv.filter((arg) => arg.startsWith('http'));
process.argv.forEach((arg, index) => {
  if (arg !== '-H') return;
  const [name, value] = process.argv[index + 1].split(/: (.*)/s);
  headers[name] = value;
});
const method = process.argv[process.argv.indexOf('-X') + 1];
fetch(url, { method, headers }).then(async (response) => console.log(response.status, await response.text()));
`;

/** The addresses are there a moment before all is printed. */
async function readPrinted(file: string): Promise<string> {
  const printed = readFileSync(file, 'utf8');
  if (printed.includes('Ctrl-C stops everything')) return printed;
  await sleep(50);
  return readPrinted(file);
}

it('the command that "npm start" prints deletes a group as it is pasted, in any folder', async () => {
  const { stateDirectory } = await localEnvironment();
  const printed = await readPrinted(join(stateDirectory, 'start.log'));
  expect(printed).toContain(`\nLogs: ${join(stateDirectory, 'logs')}, a folder for each environment.\n`);
  const [command] = /^curl (?:.*\\\n)*.*/m.exec(printed) ?? [];
  expect(command).toBeDefined();
  const script = `curl() { node -e "$CURL" -- "$@"; }\n${command}`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script], {
    cwd: stateDirectory,
    env: { ...process.env, CURL: curl },
  });
  expect(stdout).toBe('200 {}\n');
}, 120_000);
