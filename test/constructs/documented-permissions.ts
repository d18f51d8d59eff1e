import { readSource } from '../architecture/sources';

const [, section = ''] = readSource('docs/operating.md').split('## IAM permissions');
const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|/gm)];

/** An action that a command needs, and the resource as docs/operating.md names it. */
export interface Permission {
  readonly action: string;
  readonly resource: string;
}

/** In "`webhook add`, `secret`; `smoke`", the second is `webhook secret`. */
const isNamed = (cell: string, command: string) => {
  const [subject, name] = command.split(' ');
  return new RegExp(`\`(${command}|${subject} …)\`|(^|; )\`${subject} [^;]*\`${name}\``).test(cell);
};

/** What docs/operating.md lists for a command, or for all. The tests of the commands refuse calls without a permission. */
export function permissionsFor(command?: string): readonly Permission[] {
  let commands = '';
  return rows.flatMap(([, of = '', permissions = '', resource = '']) => {
    if (of !== 'the same') commands = of;
    if (command && !isNamed(commands, command)) return [];
    const names = Array.from(permissions.matchAll(/`((?:\w+:)?[A-Z]\w+)`/g), ([, name]) => name);
    return readActions(names.join(' ')).map((action) => ({ action, resource }));
  });
}

export const permissionsOf = (command?: string): readonly string[] =>
  permissionsFor(command).map(({ action }) => action);

/** `service:Action Action service:Action`, as lists are written in documents and tests. */
export function readActions(text: string): readonly string[] {
  let service = '';
  return text.split(/\s+/).flatMap((word) => {
    const [prefix = '', name] = word.split(':');
    if (name) service = prefix;
    return word === '' ? [] : `${service}:${name ?? prefix}`;
  });
}
