import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Programs that documents call, and no Unix system has. */
const programs = './wallet aws bash curl gh git npm npx openssl psql sudo xargs'.split(' ');

/**
 * The functions that stand for programs: each records its call as the line, from 0, and the words, and prints something for the
 * command after it. A queue has one message.
 */
const stubs = `
stub() {
  printf '%s\\x1f' "$((BASH_LINENO[1] - 1))" "$@" >> "$CALLS"; printf '\\x1e' >> "$CALLS"
  case "$*" in (*receive-message*) [ ! -e received ] || return 0; : > received; esac
  echo ENABLED
}
jq() { echo 1; }
sleep() { exit; }
`;

/**
 * Arguments of `spawn` for commands in Bash as on the worst day: a variable that nobody has set is an error.
 * @param own what runs instead of a stub, by program
 */
export function shellFor(commands: string, folder: string, own: Readonly<Record<string, string>> = {}) {
  const bodies = { ...Object.fromEntries(programs.map((name) => [name, `stub ${name} "$@"`])), ...own };
  const functions = Object.entries(bodies).map(([name, body]) => `${name}() { ${body}; }\n`);
  writeFileSync(join(folder, 'stubs.sh'), stubs + functions.join(''));
  writeFileSync(join(folder, 'commands.sh'), commands);
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    BASH_ENV: 'stubs.sh',
    CALLS: join(folder, 'calls'),
  };
  return ['bash', ['-u', 'commands.sh'], { cwd: folder, env, encoding: 'utf8' }] as const;
}
