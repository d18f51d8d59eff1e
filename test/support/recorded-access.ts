import { type AccessControl, type Call, createAccessControl } from '../../local/iam/access';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
}

/** A policy as it was attached: to whom or what, by which resource of the template. */
interface Attachment {
  readonly to: 'attachToRole' | 'attachToResource';
  readonly arn: string;
  readonly where: string;
  readonly statements: readonly Statement[];
}

/** One action of one statement that allows something. */
export interface Grant {
  /** To whom, or of what. */
  readonly arn: string;
  readonly where: string;
  readonly action: string;
  readonly without: readonly Attachment[];
}

/**
 * Access control that keeps every policy and every call, so that the calls can be decided again with one grant less.
 */
export function recordAccess() {
  const attachments: Attachment[] = [];
  const functions: Parameters<AccessControl['addFunction']>[] = [];
  const made: Call[] = [];
  /** By what is asked: one call of each kind is decided again. */
  const calls = new Map<string, (access: AccessControl) => string | undefined>();
  const real = createAccessControl();
  /** Decides; another one than `real` while a grant is withheld. */
  let current = real;

  const attach = (to: Attachment['to']) => (arn: string, document: unknown, where: string) => {
    const { Statement } = document as { readonly Statement: Statement | readonly Statement[] };
    attachments.push({ to, arn, where, statements: [Statement].flat() });
    real[to](arn, document, where);
  };
  let denied: { readonly action: RegExp; readonly role: RegExp } | undefined;
  let onDenied = () => {};
  const functionOf = (accessKeyId: string) =>
    functions.find(([accessKey]) => accessKey.accessKeyId === accessKeyId)?.[1].roleArn ?? '';

  const record = <Name extends 'authorize' | 'authorizeRole' | 'authorizeService'>(name: Name) =>
    ((...args: never[]) => {
      const call = (access: AccessControl) =>
        (access[name] as (...given: never[]) => string | undefined)(...args);
      calls.set(JSON.stringify([name, args]), call);
      return call(current);
    }) as AccessControl[Name];

  const access: AccessControl = {
    authorize(call) {
      made.push(call);
      const decided = record('authorize')(call);
      if (!denied?.action.test(call.action) || !denied.role.test(functionOf(call.accessKeyId)))
        return decided;
      onDenied();
      return 'denied by the test';
    },
    authorizeRole: record('authorizeRole'),
    authorizeService: record('authorizeService'),
    attachToRole: attach('attachToRole'),
    attachToResource: attach('attachToResource'),
    addFunction: (...args) => {
      functions.push(args);
      real.addFunction(...args);
    },
    findAccessKey: real.findAccessKey,
  };

  function rebuild(policies: readonly Attachment[]): AccessControl {
    const rebuilt = createAccessControl();
    for (const args of functions) rebuilt.addFunction(...args);
    for (const { to, arn, where, statements } of policies) {
      const kept = statements.filter(({ Action }) => Action.length > 0);
      if (kept.length > 0) rebuilt[to](arn, { Statement: kept }, where);
    }
    return rebuilt;
  }

  return {
    access,
    /** Decides as if the grant was not in the template, until it is given back by `undefined`. */
    withhold: (grant: Grant | undefined) => {
      current = grant ? rebuild(grant.without) : real;
    },
    /** Whether a role has made a call. */
    called: (role: RegExp, action: string) =>
      made.some((call) => role.test(functionOf(call.accessKeyId)) && call.action === action),
    /** Denies calls of a role until one was denied; resolves then. */
    denyOnce: (role: RegExp, action: RegExp) =>
      new Promise<void>((resolve) => {
        denied = { role, action };
        onDenied = () => {
          denied = undefined;
          resolve();
        };
      }),
    /** The calls that are refused when a grant is taken away; with none, those that were refused as it is. */
    refusals: (grant?: Grant): readonly string[] => {
      const rebuilt = rebuild(grant?.without ?? attachments);
      return [...calls.values()].flatMap((call) => call(rebuilt) ?? []);
    },
    grants: (): readonly Grant[] =>
      attachments.flatMap((attachment) =>
        attachment.statements.flatMap((statement) =>
          (statement.Effect === 'Allow' ? [statement.Action].flat() : []).map((action) => ({
            arn: attachment.arn,
            where: attachment.where,
            action,
            without: attachments.map((other) =>
              other === attachment ? withoutAction(other, statement, action) : other,
            ),
          })),
        ),
      ),
  };
}

function withoutAction(attachment: Attachment, statement: Statement, action: string): Attachment {
  const statements = attachment.statements.map((each) =>
    each === statement ? { ...each, Action: [each.Action].flat().filter((one) => one !== action) } : each,
  );
  return { ...attachment, statements };
}
