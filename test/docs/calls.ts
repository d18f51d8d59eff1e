import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from '../architecture/sources';
import { permissionsOf } from '../constructs/documented-permissions';
import { readDocuments } from '../support/documents';
import { oncePerRun } from '../support/once-per-run';
import { withTemporaryFolder } from '../support/temporary-folder';
import { walletCommands } from '../support/wallet-command';
import { shellFor } from './shell';

/** Who carries out a section. All but `operate` have an administrator's rights; guardrails bind all of them. */
export const roles: readonly string[] = ['administrator', 'operate', 'break-glass'];

export interface DocumentedCall {
  readonly path: string;
  /** @default - before the first heading */
  readonly section: string;
  /** That of the section, unless the item, row or line of code has "as ROLE" before it. */
  readonly role: string;
  readonly kind: 'aws' | 'cdk' | 'wallet';
  /** `SERVICE COMMAND OPTIONS` of the AWS command line, or a command of the others. */
  readonly text: string;
  readonly actions: readonly string[];
}

/** The sections of a document. @returns `role`: as `**Role**: …` names it */
export const sectionsIn = ({ text }: SourceFile) =>
  text.split(/^(?=##+ )/m).map((part) => ({
    heading: /^##+ (.*)/.exec(part)?.[1] ?? '',
    role: /^\*\*Role\*\*: ([^.]+)\./m.exec(part)?.[1],
    text: part,
  }));

type Section = ReturnType<typeof sectionsIn>[number];

/** The SDK's client of a service, if it is installed. Its schemas have the operations' inputs. */
function clientOf(service: string): Readonly<Record<string, unknown>> {
  const names: Readonly<Record<string, string>> = { s3api: 's3', secretsmanager: 'secrets-manager' };
  try {
    return require(`@aws-sdk/client-${names[service] ?? service}`);
  } catch {
    return {};
  }
}

const pascal = (command: string) => command.replaceAll('-', '').toLowerCase();

/**
 * The operation that a command calls, by the SDK's schemas: https://github.com/smithy-lang/smithy-typescript, `StaticOperationSchema`.
 * A waiter calls `Describe…`: `stack-rollback-complete` describes stacks.
 *
 * @returns members of its input, and none for a service without an installed client
 */
export function operationOf(service: string, command: string) {
  const client = clientOf(service);
  const isOperation = (schema: unknown) => Array.isArray(schema) && schema[0] === 9;
  const operations = Object.entries(client).filter(([, schema]) => isOperation(schema));
  const called = pascal(command.replace(/^wait (.*?)(-rollback)?-\w+$/, 'describe-$1s'));
  const [name = '', schema] = operations.find(([each]) => each.toLowerCase() === `${called}$`) ?? [];
  const [, , , , input] = (schema ?? []) as readonly unknown[];
  const [, , , , members = []] = (typeof input === 'function' ? input() : (input ?? [])) as unknown[];
  return { isCovered: operations.length > 0, name: name.slice(0, -1), members: members as readonly string[] };
}

/** As the AWS command line names options: https://github.com/boto/botocore/blob/develop/botocore/__init__.py, `xform_name`. */
export const optionOf = (member: string) =>
  member
    .replace(/[A-Z]{2,}s$/, (plural) => `-${plural.toLowerCase()}`)
    .replace(/(.)([A-Z][a-z]+)/g, '$1-$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/^-/, '')
    .toLowerCase();

const prefixes: Readonly<Record<string, string>> = { 'service-quotas': 'servicequotas', s3api: 's3' };

/** API Gateway's actions are methods: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonapigatewaymanagement.html */
const methods: Readonly<Record<string, string>> = { update: 'PATCH', create: 'POST' };

/**
 * What the caller needs beside the command's own action. A template's parameters: lib/account/permissions.ts. Roles:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html. The Data API's secret:
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.access.html
 */
const dependent: readonly (readonly [RegExp, string])[] = [
  [/^cloudformation update-stack /, 'ssm:GetParameters'],
  [/ --(iam-)?role-arn /, 'iam:PassRole'],
  [/^rds-data .* --secret-arn /, 'secretsmanager:GetSecretValue'],
];

export const commandOf = (text: string) => {
  const [, service = '', command = ''] = /^(\S+) ((?:wait )?\S+)/.exec(text) ?? [];
  return { service, command };
};

function actionsOf(text: string): readonly string[] {
  const { service, command } = commandOf(text);
  // It tests a permission, and may be refused.
  if (text.includes(' --dry-run')) return [];
  const name = operationOf(service, command).name || pascal(command);
  const [verb = ''] = command.split('-');
  const action = service === 'apigateway' ? (methods[verb] ?? verb.toUpperCase()) : name;
  return [
    `${prefixes[service] ?? service}:${action === 'Invoke' ? 'InvokeFunction' : action}`,
    ...dependent.filter(([pattern]) => pattern.test(text)).map(([, needed]) => needed),
  ];
}

const startsProgram = /^(?:\w+=\S+ )*(?:\.\/wallet|aws|gh|npm|npx|psql|sudo) \S/;

/** A line of a block of `sh`, or a span of prose, as a command. */
interface Line extends Pick<DocumentedCall, 'path' | 'section' | 'role'> {
  readonly command: string;
  /** @default - a line of a block */
  readonly span?: string;
}

/** The code of a section. A role is named before a span in its item, row or paragraph, or in the line of a block. */
function* linesIn(path: string, { heading, role: own = 'administrator', text }: Section): Generator<Line> {
  const common = { path, section: heading };
  const parts = text.split(/^ *```(\w*)\n/m);
  let service = '';
  for (let at = 0; at < parts.length; at += 2) {
    const [part = '', isBlock, language] = [parts[at], at % 4 === 2, parts[at - 1]];
    if (isBlock && language !== 'sh') continue;
    const chunks = isBlock
      ? part.replace(/\\\n\s*/g, '').split('\n')
      : part.split(/\n(?= *(?:[-|]|\d+\.) |\n)/);
    for (const chunk of chunks) {
      const marks = [...chunk.matchAll(/\bas\s+([a-z-]+)/gi)].filter(([, role = '']) => roles.includes(role));
      if (isBlock) yield { ...common, role: marks[0]?.[1] ?? own, command: chunk };
      else
        for (const { index, 1: found = '' } of chunk.matchAll(/`([^`]+)`/g)) {
          const span = found.replace(/\s+/g, ' ');
          const role = marks.findLast((mark) => mark.index < index)?.[1] ?? own;
          // "`aws rds delete-db-instance`, then `delete-db-cluster`"
          const continues = service && operationOf(service, span.split(' ')[0] ?? '').name;
          const command = startsProgram.test(span) ? span : continues ? `aws ${service} ${span}` : '';
          yield { ...common, role, span, command: command && `( ${command} )` };
          service = /^aws (\S+)/.exec(command)?.[1] ?? service;
        }
      service = (isBlock && /\baws ([a-z0-9-]+) [a-z]/.exec(chunk)?.[1]) || service;
    }
  }
}

/** The documents' commands: each section's in a shell of its own, blocks and spans in their order, but for those that have been. */
export const documentedLines: readonly Line[] = readDocuments().flatMap((document) => {
  const { path } = document;
  const text = document.text.replace(/^### Removed[\s\S]*/m, '');
  const line = (command: string) => ({ path, section: '', role: '', command });
  return sectionsIn({ path, text }).flatMap((part) => [line('( :'), ...linesIn(path, part), line(')')]);
});

/** A call by a document's commands: the line of these, from 0, then the program and its arguments. */
type ShellCall = readonly [line: number, ...words: string[]];

/** What Bash says of the documents' commands, and the calls that these make if all succeed. */
export function runDocuments(): { readonly problems: string; readonly calls: readonly ShellCall[] } {
  const commands = documentedLines.map(({ command }) => command).join('\n');
  const run = () =>
    withTemporaryFolder((folder) => {
      const { stderr: problems } = spawnSync(...shellFor(commands, folder));
      const recorded = readFileSync(join(folder, 'calls'), 'utf8').split('\x1e').slice(0, -1);
      const calls = recorded.map((call): ShellCall => {
        const [line, ...words] = call.split('\x1f').slice(0, -1);
        return [Number(line), ...words];
      });
      return JSON.stringify({ problems, calls });
    });
  return JSON.parse(oncePerRun('runDocuments', run));
}

/** The longest name of a command with which words begin. "`smoke` passes" names one. */
const walletName = (words: string) =>
  walletCommands
    .map(([path]) => path.replace(/^local /, ''))
    .filter((name) => new RegExp(`^(?:\\./wallet )?(?:local )?${name}(?![\\w…-])`).test(words))
    .sort()
    .at(-1);

/** The calls of all documents, but for those that the management account runs, and what has been. */
export function documentedCalls(): readonly DocumentedCall[] {
  const { calls } = runDocuments();
  return documentedLines.flatMap(({ command: _, span = '', ...common }, line) => {
    if (['docs/guardrails.md', 'CHANGELOG.md'].includes(common.path)) return [];
    const called = calls.filter(([of]) => of === line).map(([, ...words]) => words.join(' '));
    return (called.length > 0 ? called : [span]).flatMap((text): readonly DocumentedCall[] => {
      const [, ofAws] = /^aws (?!configure |sso )(\S+ .*)/.exec(text) ?? [];
      if (ofAws) return [{ ...common, kind: 'aws', text: ofAws, actions: actionsOf(ofAws) }];
      const [, cdk] = /^npx (cdk (?:deploy|diff|drift|destroy))\b/.exec(text) ?? [];
      if (cdk) return [{ ...common, kind: 'cdk', text: cdk, actions: ['sts:AssumeRole'] }];
      const name = walletName(text);
      return name ? [{ ...common, kind: 'wallet', text: name, actions: permissionsOf(name) }] : [];
    });
  });
}
