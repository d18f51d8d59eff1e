import { readFileSync } from 'node:fs';

const [, section = ''] = readFileSync('docs/operating.md', 'utf8').split('## IAM permissions');
const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (.+?) \| (.+?) \|/gm)];

/** The actions that docs/operating.md lists for a command, or for all. The tests of the commands refuse calls without a permission. */
export function permissionsOf(command?: string): readonly string[] {
  let commands = '';
  return rows.flatMap(([, of = '', permissions = '']) => {
    if (of !== 'the same') commands = of;
    if (command && !commands.includes(`\`${command}\``)) return [];
    const names = Array.from(permissions.matchAll(/`((?:\w+:)?[A-Z]\w+)`/g), ([, name]) => name);
    return readActions(names.join(' '));
  });
}

/** `service:Action Action service:Action`, as lists are written in documents and tests. */
export function readActions(text: string): readonly string[] {
  let service = '';
  return text.split(/\s+/).flatMap((word) => {
    const [prefix = '', name] = word.split(':');
    if (name) service = prefix;
    return word === '' ? [] : `${service}:${name ?? prefix}`;
  });
}
