import { permissionsOf } from '../constructs/documented-permissions';
import { type Document, readDocuments } from '../support/documents';
import { walletCommands } from '../support/wallet-command';

/** Who carries out a section. All but `operate` have an administrator's rights; guardrails bind all of them. */
export const roles: readonly string[] = ['administrator', 'operate', 'break-glass'];

/** A command in a document. */
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

/** The sections of a document. @returns `role`: as the line `**Role**: …` names it */
export const sectionsIn = ({ text }: Document) =>
  text.split(/^(?=##+ )/m).map((part) => ({
    heading: /^##+ (.*)/.exec(part)?.[1] ?? '',
    role: /^\*\*Role\*\*: (.+)\.$/m.exec(part)?.[1],
    text: part,
  }));

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
  const named = (name: string) => operations.find(([each]) => each.toLowerCase() === `${pascal(name)}$`);
  const [, waited = ''] = /^wait (.*)/.exec(command) ?? [];
  const words = waited.split('-');
  const described = words.map((_, count) => `describe-${words.slice(0, count + 1).join('-')}s`).map(named);
  const [name = '', schema] = (waited ? described.findLast(Boolean) : named(command)) ?? [];
  const [, , , , input] = (schema ?? []) as readonly unknown[];
  const [, , , , members = []] = (typeof input === 'function' ? input() : (input ?? [])) as unknown[];
  return { isCovered: operations.length > 0, name: name.slice(0, -1), members: members as readonly string[] };
}

const prefixes: Readonly<Record<string, string>> = { 'service-quotas': 'servicequotas', s3api: 's3' };

/** API Gateway's actions are methods: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonapigatewaymanagement.html */
const methods: Readonly<Record<string, string>> = {
  get: 'GET',
  update: 'PATCH',
  create: 'POST',
  delete: 'DELETE',
};

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

/** The service and command of a call by the AWS command line. */
export const commandOf = (text: string) => {
  const [, service = '', command = ''] = /^(\S+) ((?:wait )?\S+)/.exec(text) ?? [];
  return { service, command };
};

function actionsOf(text: string): readonly string[] {
  const { service, command } = commandOf(text);
  // It tests a permission, and may be refused.
  if (text.includes(' --dry-run')) return [];
  const name = operationOf(service, command).name || pascal(command);
  const action = service === 'apigateway' ? methods[command.split('-')[0] ?? ''] : name;
  return [
    `${prefixes[service] ?? service}:${action === 'Invoke' ? 'InvokeFunction' : action}`,
    ...dependent.filter(([pattern]) => pattern.test(text)).map(([, needed]) => needed),
  ];
}

/** Up to what ends a command in a shell. What is quoted or nested belongs to it. */
function commandAt(code: string): string {
  let [depth, quote] = [0, ''];
  for (const [index, each] of Array.from(code).entries()) {
    if (quote) quote = each === quote ? '' : quote;
    else if (`'"`.includes(each)) quote = each;
    else if (each === '(') depth += 1;
    else if (each === ')' && depth > 0) depth -= 1;
    else if (
      depth === 0 &&
      /^(?:[)|;&\n]| #)/.test(
        Array.from(code)
          .slice(index, index + 2)
          .join(''),
      )
    )
      return Array.from(code).slice(0, index).join('').trim();
  }
  return code.trim();
}

/** Lines of blocks, and code spans of items, rows and paragraphs, each with the role that is named before it. */
function* codeIn(section: string) {
  for (const [index, part] of section.split(/^ *```.*$/m).entries()) {
    const isBlock = index % 2 === 1;
    const text = isBlock ? part.replace(/\\\n\s*/g, '') : part;
    for (const chunk of text.split(isBlock ? '\n' : /\n(?= *(?:[-|]|\d+\.) |\n)/)) {
      const marks = [...chunk.matchAll(/\bas\s+([a-z-]+)/gi)].filter(([, role = '']) => roles.includes(role));
      if (isBlock) yield { code: chunk, role: marks[0]?.[1] };
      else
        for (const { index: at, 1: code = '' } of chunk.matchAll(/`([^`]+)`/g))
          yield { code: code.replace(/\s+/g, ' '), role: marks.findLast((mark) => mark.index < at)?.[1] };
    }
  }
}

const walletNames = walletCommands.map(([path]) => path.replace(/^local /, ''));

function* callsIn(document: Document): Generator<DocumentedCall> {
  for (const { heading: section, role: own = 'administrator', text } of sectionsIn(document)) {
    let service = '';
    for (const { code, role = own } of codeIn(text)) {
      const common = { path: document.path, section, role };
      const found = Array.from(
        code.matchAll(/(?<![\w/.-])aws (?!configure|sso )(?=[a-z0-9-]+ (?:(?:wait )?[a-z]+-|invoke))/g),
        ({ index, 0: aws }) => commandAt(code.slice(index + aws.length)),
      );
      // "`aws rds delete-db-instance`, then `delete-db-cluster`"
      const [word = ''] = code.split(' ');
      if (service && found.length === 0 && operationOf(service, word).name) found.push(`${service} ${code}`);
      for (const each of found) {
        service = commandOf(each).service;
        yield { ...common, kind: 'aws', text: each, actions: actionsOf(each) };
      }
      for (const [cdk] of code.matchAll(/(?<=npx )cdk (?:deploy|diff|drift|destroy)\b/g))
        yield { ...common, kind: 'cdk', text: cdk, actions: ['sts:AssumeRole'] };
      for (const [, two = ''] of code.matchAll(/(?:^|\.\/wallet )([a-z-]+(?: [a-z-]+)?)(?![\w…-])/g)) {
        const name = [two, two.split(' ')[0]].find((each) => walletNames.includes(each ?? ''));
        if (name) yield { ...common, kind: 'wallet', text: name, actions: permissionsOf(name) };
      }
    }
  }
}

let all: readonly DocumentedCall[] | undefined;

/** The calls of all documents, but for those that the management account runs, and what has been. */
export function documentedCalls(): readonly DocumentedCall[] {
  all ??= readDocuments()
    .filter(({ path }) => !['docs/guardrails.md', 'CHANGELOG.md'].includes(path))
    .flatMap((document) => [...callsIn(document)]);
  return all;
}
