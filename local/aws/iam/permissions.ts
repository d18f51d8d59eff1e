import type { AccessKey } from '../rds/token';
import { type AccessRequest, evaluate, readPolicy, type Statement } from './policy';

/** A call to a local service. */
export interface Call extends Pick<AccessRequest, 'action' | 'resource'> {
  /** The access key id of the request's signature. */
  readonly accessKeyId: string;
  readonly context?: AccessRequest['context'];
}

/** Returns IAM's message for a denied call; undefined if allowed. */
export type Authorize = (call: Call) => string | undefined;

/** Allows everything. */
export const allowEverything: Authorize = () => undefined;

/** One action of an `Allow` statement. */
export interface Grant {
  /** The logical id of the policy's resource. */
  readonly where: string;
  /** The role that has the grant, or the resource whose policy contains it. */
  readonly arn: string;
  readonly action: string;
  readonly statement: Statement;
}

export type Permissions = ReturnType<typeof createPermissions>;

/**
 * The permissions of the local account. A function may do only what the policies of its role and of the resource allow.
 * Any other access key is an administrator's.
 */
export function createPermissions() {
  const ofRoles = new Map<string, Statement[]>();
  const ofResources = new Map<string, Statement[]>();
  const functions = new Map<string, { readonly accessKey: AccessKey; readonly roleArn: string }>();
  const grants: Grant[] = [];
  const requests = new Map<string, AccessRequest>();
  let withheld: Grant | undefined;
  let refused = new Set<string>();

  const attachTo =
    (policies: Map<string, Statement[]>) => (arn: string, document: unknown, where: string) => {
      const statements = readPolicy(document, where);
      policies.set(arn, [...(policies.get(arn) ?? []), ...statements]);
      for (const statement of statements.filter(({ effect }) => effect === 'Allow')) {
        grants.push(...statement.actions.map((action) => ({ where, arn, action, statement })));
      }
    };

  /** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-basics.html */
  function decide(request: AccessRequest, without: Grant | undefined): string | undefined {
    const { principal, action, resource } = request;
    const remaining = (statements: readonly Statement[] = []) =>
      statements.map((statement) =>
        statement === without?.statement
          ? { ...statement, actions: statement.actions.filter((each) => each !== without.action) }
          : statement,
      );
    const ofRole = remaining(ofRoles.get(principal));
    const ofResource = remaining(ofResources.get(resource));
    const because = (reason: string) =>
      `User: ${principal} is not authorized to perform: ${action} on resource: ${resource} ${reason}`;
    if (evaluate([...ofRole, ...ofResource], request) === 'Deny') return because('with an explicit deny');
    const named = ofResource.filter(({ principals }) =>
      ['*', principal].some((name) => principals?.includes(name)),
    );
    if (evaluate(named, request)) return undefined;
    // A key's policy must allow the request too, at least by naming the account; services have no other policy.
    // https://docs.aws.amazon.com/kms/latest/developerguide/key-policies.html
    const isLeftToRole = action.startsWith('kms:')
      ? evaluate(ofResource, request) !== undefined
      : principal.startsWith('arn:');
    if (isLeftToRole && evaluate(ofRole, request)) return undefined;
    const kind = isLeftToRole ? 'identity' : 'resource';
    return because(`because no ${kind}-based policy allows the ${action} action`);
  }

  function authorizePrincipal(request: AccessRequest): string | undefined {
    requests.set(JSON.stringify(request), request);
    const refusal = decide(request, withheld);
    if (refusal !== undefined) refused.add(refusal);
    return refusal;
  }

  /** Like `authorize`, for Lambda itself acting with a function's role. Assumes TLS, as at AWS. */
  const authorizeRole = (
    principal: string,
    action: string,
    resource: string,
    context: Call['context'] = {},
  ) =>
    authorizePrincipal({
      principal,
      action,
      resource,
      context: { 'aws:securetransport': 'true', ...context },
    });

  return {
    /** For tests of the templates' grants. */
    accesses: {
      /** Each distinct request so far. */
      requests: () => [...requests.values()],
      grants: () => grants,
      /** Reasons for denying these requests, optionally without a grant. */
      refusals: (without?: Grant) =>
        [...requests.values()].flatMap((request) => decide(request, without) ?? []),
      /** Ignores a grant until the next call. @returns the set that collects later refusals */
      withhold(grant?: Grant): ReadonlySet<string> {
        withheld = grant;
        refused = new Set();
        return refused;
      },
    },
    /** Adds statements to a role. @throws Error for anything unsupported */
    attachToRole: attachTo(ofRoles),
    /** Adds statements to a resource. @throws Error for anything unsupported */
    attachToResource: attachTo(ofResources),
    /** Maps an access key to a role. */
    addFunction: (accessKey: AccessKey, roleArn: string) =>
      void functions.set(accessKey.accessKeyId, { accessKey, roleArn }),
    /** The access key of a function. */
    findAccessKey: (accessKeyId: string) => functions.get(accessKeyId)?.accessKey,
    authorize: (({ accessKeyId, action, resource, context }) => {
      const found = functions.get(accessKeyId);
      return found && authorizeRole(found.roleArn, action, resource, context);
    }) satisfies Authorize,
    authorizeRole,
    /** @throws Error if a role lacks permissions that AWS requires */
    requireRole(logicalId: string, role: string, actions: readonly string[], resource: string): void {
      for (const action of actions) {
        const refusal = authorizeRole(role, action, resource);
        if (refusal !== undefined) throw new Error(`${logicalId}: ${refusal}`);
      }
    },
    /** Like `authorize`, for a service that invokes a function on behalf of one of its resources. */
    authorizeService: (principal: string, functionArn: string, sourceArn: string) =>
      authorizePrincipal({
        principal,
        action: 'lambda:InvokeFunction',
        resource: functionArn,
        context: { 'aws:sourcearn': sourceArn },
      }),
  };
}

/** The access key id of a request's signature (Signature Version 4); empty if unsigned. */
export const accessKeyIdOf = (authorization: string | undefined): string =>
  /\bCredential=([^/,\s]+)\//.exec(authorization ?? '')?.[1] ?? '';
