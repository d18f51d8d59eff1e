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

/** Statements of policies, by the ARN of the role or resource that they belong to. */
export interface Policies {
  readonly ofRoles: ReadonlyMap<string, readonly Statement[]>;
  readonly ofResources: ReadonlyMap<string, readonly Statement[]>;
}

/** Returns IAM's message for a denied request; undefined if allowed. */
export type Decide = (request: AccessRequest, policies: Policies) => string | undefined;

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-basics.html */
export const decideAccess: Decide = (request, { ofRoles, ofResources }) => {
  const { principal, action, resource } = request;
  const ofRole = ofRoles.get(principal) ?? [];
  const ofResource = ofResources.get(resource) ?? [];
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
};

export type Permissions = ReturnType<typeof createPermissions>;

/**
 * The permissions of one environment. A function may do only what the policies of its role and of the resource allow.
 * Any other access key is an administrator's.
 */
export function createPermissions(decide = decideAccess) {
  const ofRoles = new Map<string, readonly Statement[]>();
  const ofResources = new Map<string, readonly Statement[]>();
  /** The ARNs of their roles, by access key id. */
  const functions = new Map<string, string>();

  const attachTo =
    (policies: Map<string, readonly Statement[]>) => (arn: string, document: unknown, where: string) =>
      void policies.set(arn, [...(policies.get(arn) ?? []), ...readPolicy(document, where)]);

  const policies = { ofRoles, ofResources };
  const authorizePrincipal = (request: AccessRequest) => decide(request, policies);

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
    /** Adds statements to a role. @throws Error for anything unsupported */
    attachToRole: attachTo(ofRoles),
    /** Adds statements to a resource. @throws Error for anything unsupported */
    attachToResource: attachTo(ofResources),
    /** Maps an access key to a role. */
    addFunction: (accessKeyId: string, roleArn: string) => void functions.set(accessKeyId, roleArn),
    authorize: (({ accessKeyId, action, resource, context }) => {
      const roleArn = functions.get(accessKeyId);
      return roleArn === undefined ? undefined : authorizeRole(roleArn, action, resource, context);
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
