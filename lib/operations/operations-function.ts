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
}

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
  return readAnswer(Buffer.from(Payload ?? []).toString(), FunctionError, { operation, logs: target.logs });
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

function readAnswer(
  payload: string,
  functionError: string | undefined,
  { operation, logs }: { readonly operation: string; readonly logs: string },
) {
  const answer: Answer = readFields(payload);
  if (functionError) {
    throw new CommandFailed(
      `The operations function failed at ${operation}: ${answer.errorMessage ?? functionError}.`,
      `The reason is in its log in ${logs}.`,
    );
  }
  if (answer.ok === true && answer.result) return answer.result;
  if (answer.ok === false && answer.error)
    throw new OperationRefused(answer.error.code, answer.error.message);
  throw otherVersion('that is not an answer');
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
