import { readFileSync } from 'node:fs';
import { readDocuments } from '../support/documents';

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

const prefixes: Readonly<Record<string, string>> = { 'service-quotas': 'servicequotas', s3api: 's3' };

/** The calls of AWS's own commands in the documents, but for those that the management account runs. */
export const callsOfCommands = (): readonly string[] =>
  readDocuments()
    .filter(({ path }) => path !== 'docs/guardrails.md')
    .flatMap(({ text }) => [
      ...text.matchAll(/\baws ([a-z0-9-]+) (?!wait\b|login\b)([a-z]+(?:-[a-z]+)+|invoke)\b/g),
    ])
    .map(([, service = '', command = '']) => {
      const action = command === 'invoke' ? 'InvokeFunction' : command.replaceAll('-', '');
      return `${prefixes[service] ?? service}:${action}`;
    });
