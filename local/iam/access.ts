import type { AccessKey } from '../database-endpoint/token';
import type { RequestContext } from './conditions';
import { evaluate } from './evaluate';
import { type PolicyStatement, readPolicy } from './policy';

/** A call that a service of this machine was asked for. */
export interface Call {
  /** The access key id of the request's signature. */
  readonly accessKeyId: string;
  /** Such as `kms:Sign`. */
  readonly action: string;
  /** ARN. */
  readonly resource: string;
  /** @default - nothing but that the call came over TLS, as every call to AWS does */
  readonly context?: RequestContext;
}

export interface FunctionIdentity {
  readonly roleArn: string;
  readonly name: string;
}

/** Says why a call is refused, in IAM's words; undefined when it is allowed. */
export type Authorize = (call: Call) => string | undefined;

/** For a service without access control. */
export const allowEverything: Authorize = () => undefined;

export interface AccessControl {
  readonly authorize: Authorize;
  /** Adds statements to a role. @throws Error for what the policy has and this machine does not know */
  attachToRole(roleArn: string, document: unknown, where: string): void;
  /** Gives a resource its policy. */
  attachToResource(resourceArn: string, document: unknown, where: string): void;
  /** Lets calls that are signed with this key act as the role. */
  addFunction(accessKey: AccessKey, setting: FunctionIdentity): void;
  /** A function's access key. */
  findAccessKey(accessKeyId: string): AccessKey | undefined;
  /** As `authorize`, for Lambda itself, which acts with a function's role. */
  authorizeRole(roleArn: string, action: string, resource: string): string | undefined;
  /** As `authorize`, for a service that invokes a function for a resource of its own. */
  authorizeService(service: string, functionArn: string, sourceArn: string): string | undefined;
}

/**
 * The access control of the account that the environments of this machine are in. A function may do what its role's
 * policies, and the policy of the resource, allow, and nothing else. Any other access key is an administrator's.
 */
export function createAccessControl(): AccessControl {
  const ofRoles = new Map<string, PolicyStatement[]>();
  const ofResources = new Map<string, PolicyStatement[]>();
  const functions = new Map<string, FunctionIdentity & { readonly accessKey: AccessKey }>();

  function decide(roleArn: string, user: string, call: Omit<Call, 'accessKeyId'>): string | undefined {
    const { action, resource } = call;
    const context = { 'aws:securetransport': 'true', ...call.context };
    const denial = evaluate(
      { principal: { kind: 'AWS', arn: roleArn }, action, resource, context },
      {
        identity: ofRoles.get(roleArn) ?? [],
        resource: ofResources.get(resource) ?? [],
        resourceDecides: action.startsWith('kms:'),
      },
    );
    if (denial === undefined) return undefined;
    const because =
      denial === 'explicit' ? 'with an explicit deny' : `because ${denial} the ${action} action`;
    return `User: ${user} is not authorized to perform: ${action} on resource: ${resource} ${because}`;
  }

  return {
    authorize(call) {
      const found = functions.get(call.accessKeyId);
      if (!found) return undefined;
      const { roleArn, name } = found;
      const [, , , , account, role = ''] = roleArn.split(':');
      const user = `arn:aws:sts::${account}:assumed-${role}/${name}`;
      return decide(roleArn, user, call);
    },
    authorizeRole: (roleArn, action, resource) => decide(roleArn, roleArn, { action, resource }),
    attachToRole: (roleArn, document, where) => add(ofRoles, roleArn, readPolicy(document, where)),
    attachToResource: (arn, document, where) => add(ofResources, arn, readPolicy(document, where)),
    addFunction: (accessKey, setting) => void functions.set(accessKey.accessKeyId, { ...setting, accessKey }),
    findAccessKey: (accessKeyId) => functions.get(accessKeyId)?.accessKey,
    authorizeService(service, functionArn, sourceArn) {
      const action = 'lambda:InvokeFunction';
      const principal = { kind: 'Service', name: service } as const;
      const context = { 'aws:sourcearn': sourceArn, 'aws:sourceaccount': sourceArn.split(':')[4] ?? '' };
      const resource = ofResources.get(functionArn) ?? [];
      const denial = evaluate(
        { principal, action, resource: functionArn, context },
        { identity: [], resource },
      );
      return (
        denial &&
        `${service} is not authorized to perform: ${action} on resource: ${functionArn} for ${sourceArn}`
      );
    },
  };
}

function add(policies: Map<string, PolicyStatement[]>, arn: string, statements: readonly PolicyStatement[]) {
  policies.set(arn, [...(policies.get(arn) ?? []), ...statements]);
}
