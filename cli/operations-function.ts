import { callAws } from './aws';
import { CommandFailed } from './failure';
import { whenActive } from './function-state';
import { readFields } from './json';
import type { Target } from './target';

/** The operations function would not do what it was asked; `code` says why. */
export class OperationRefused extends CommandFailed {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }

  /** Of a value that it would refuse whatever there is, the command was used wrongly. */
  override get exitCode() {
    return this.code === 'input_invalid' || urlRefusals.has(this.code) ? 2 : 1;
  }
}

/** Those of `lambda/webhooks/receiver-url`. */
const urlRefusals: ReadonlySet<string> = new Set([
  'url_malformed',
  'url_too_long',
  'scheme_not_https',
  'credentials_in_url',
  'address_instead_of_name',
  'name_not_public',
  'port_not_allowed',
]);

/**
 * Has the region's operations function (`lambda/run-operation`) do something. Needs `lambda:InvokeFunction` on it.
 *
 * @throws OperationRefused with the function's own message; CommandFailed when it does not answer.
 */
export async function runOperation(
  target: Target,
  operation: string,
  input: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
  // One attempt: an invocation whose answer was lost may have changed something.
  const client = new LambdaClient({ ...target.clientSettings('lambda'), maxAttempts: 1 });
  const invocation = new InvokeCommand({
    FunctionName: target.output('OperationsFunctionName'),
    Payload: Buffer.from(JSON.stringify({ operation, input })),
  });
  const { FunctionError, Payload } = await whenActive(target, client, invocation.input, () =>
    callAws(target, 'lambda:InvokeFunction', (options) => client.send(invocation, options)),
  );
  return readAnswer(Buffer.from(Payload ?? []).toString(), FunctionError, {
    operation,
    input,
    logs: target.logs,
  });
}

/** Takes fields of text from an operation's result. */
export function readTexts<const Name extends string>(
  result: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): { readonly [name in Name]: string } {
  const missing = names.filter((name) => typeof result[name] !== 'string');
  if (missing.length > 0) throw otherVersion(`without ${missing.join(', ')}`);
  return Object.fromEntries(names.map((name) => [name, result[name]])) as { [name in Name]: string };
}

/** Takes a list from an operation's result. */
export function readList<T>(result: Readonly<Record<string, unknown>>, name: string): readonly T[] {
  if (!Array.isArray(result[name])) throw otherVersion(`without ${name}`);
  return result[name];
}

function readAnswer(payload: string, functionError: string | undefined, { operation, input, logs }: Asked) {
  const answer: Answer = readFields(payload);
  if (functionError) {
    throw new CommandFailed(
      `The operations function failed at ${operation}: ${answer.errorMessage ?? functionError}.`,
      `The reason is in its log in ${logs}.`,
    );
  }
  if (answer.ok === true && answer.result) return answer.result;
  if (answer.ok === false && answer.error) {
    const { code, message } = answer.error;
    throw new OperationRefused(
      code,
      urlRefusals.has(code) ? `${withoutPassword(input.url)}: ${message}` : message,
    );
  }
  throw otherVersion('that is not an answer');
}

const withoutPassword = (url: unknown) => String(url).replace(/\/\/[^/]*@/, '//…@');

interface Asked {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly logs: string;
}

interface Answer {
  readonly ok?: boolean;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly message: string };
  readonly errorMessage?: string;
}

const otherVersion = (what: string) =>
  new CommandFailed(
    `The operations function answered something ${what}.`,
    'It is of another version: deploy this one, or use the command line of that version.',
  );
