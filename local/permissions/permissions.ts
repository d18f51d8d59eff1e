import type { AccessKey } from '../postgres/token';
import {
  type AccessRequest,
  applies,
  names,
  type RequestContext,
  readPolicy,
  type Statement,
} from './policy';

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

/** Says why a call is refused, in IAM's words; undefined when it is allowed. */
export type Authorize = (call: Call) => string | undefined;

/** For a service without permissions. */
export const allowEverything: Authorize = () => undefined;

/** One action of a statement that allows something. */
export interface Grant {
  /** The resource of the template that grants it. */
  readonly where: string;
  /** To which role, or of which resource. */
  readonly arn: string;
  readonly action: string;
  readonly statement: Statement;
}

/** What the permissions were asked, for tests of the grants. */
export interface Accesses {
  /** Each distinct request once. */
  made(): readonly AccessRequest[];
  grants(): readonly Grant[];
  /** The requests that are refused, or would be without a grant: each reason. */
  refusals(without?: Grant): readonly string[];
  /**
   * Decides as if the grant were not in the template, until it is given back by `undefined`.
   *
   * @returns what resolves when a request was refused for lack of it
   */
  withhold(grant: Grant | undefined): Promise<void>;
}

export type Permissions = ReturnType<typeof createPermissions>;

/**
 * Who may do what in the account of this machine's environments. A function may do what the policies of its role and of
 * the resource allow, and nothing else. Any other access key is an administrator's.
 */
export function createPermissions() {
  const ofRoles = new Map<string, Statement[]>();
  const ofResources = new Map<string, Statement[]>();
  const functions = new Map<string, { accessKey: AccessKey; roleArn: string; name: string }>();
  const grants: Grant[] = [];
  const asked = new Map<string, AccessRequest>();
  let withheld: Grant | undefined;
  let missed: () => void = () => undefined;

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
    const relevant = (statements: readonly Statement[] = []) =>
      statements
        .map((statement) =>
          statement === without?.statement
            ? { ...statement, actions: statement.actions.filter((each) => each !== without.action) }
            : statement,
        )
        .filter((statement) => applies(statement, request));
    const identity = relevant(principal?.kind === 'AWS' ? ofRoles.get(principal.name) : []);
    const ofResource = relevant(ofResources.get(resource));
    const refused = `User: ${principal?.name} is not authorized to perform: ${action} on resource: ${resource}`;
    if ([...identity, ...ofResource].some(({ effect }) => effect === 'Deny')) {
      return `${refused} with an explicit deny`;
    }
    if (ofResource.some(({ principals = [] }) => principals.some((each) => names(each, request)))) {
      return undefined;
    }
    // A KMS key's policy has to allow the request too, by naming the principal or its account.
    // https://docs.aws.amazon.com/kms/latest/developerguide/key-policies.html
    if (principal?.kind === 'Service' || (action.startsWith('kms:') && ofResource.length === 0)) {
      return `${refused} because no resource-based policy allows the ${action} action`;
    }
    return identity.length > 0
      ? undefined
      : `${refused} because no identity-based policy allows the ${action} action`;
  }

  function ask(request: AccessRequest): string | undefined {
    asked.set(JSON.stringify(request), request);
    const refusal = decide(request, withheld);
    if (refusal !== decide(request, undefined)) missed();
    return refusal;
  }

  const authorizeRole = (
    roleArn: string,
    action: string,
    resource: string,
    context: RequestContext = {},
  ): string | undefined =>
    ask({
      principal: { kind: 'AWS', name: roleArn },
      action,
      resource,
      context: { 'aws:securetransport': 'true', ...context },
    });

  const accesses: Accesses = {
    made: () => [...asked.values()],
    grants: () => grants,
    refusals: (without) => [...asked.values()].flatMap((request) => decide(request, without) ?? []),
    withhold: (grant) => {
      withheld = grant;
      return new Promise((resolve) => {
        missed = resolve;
      });
    },
  };

  return {
    accesses,
    /** Adds statements to a role. @throws Error for anything unsupported */
    attachToRole: attachTo(ofRoles),
    /** Gives a resource its policy. @throws Error for anything unsupported */
    attachToResource: attachTo(ofResources),
    /** Lets calls that are signed with this key act as the role. */
    addFunction: (accessKey: AccessKey, { roleArn, name }: { roleArn: string; name: string }) =>
      void functions.set(accessKey.accessKeyId, { accessKey, roleArn, name }),
    /** A function's access key. */
    findAccessKey: (accessKeyId: string) => functions.get(accessKeyId)?.accessKey,
    authorize: (({ accessKeyId, action, resource, context }) => {
      const found = functions.get(accessKeyId);
      return found && authorizeRole(found.roleArn, action, resource, context);
    }) satisfies Authorize,
    /** As `authorize`, for Lambda itself, which acts with a function's role. */
    authorizeRole,
    /** As `authorize`, for a service that invokes a function for a resource of its own. */
    authorizeService: (service: string, functionArn: string, sourceArn: string) =>
      ask({
        principal: { kind: 'Service', name: service },
        action: 'lambda:InvokeFunction',
        resource: functionArn,
        context: { 'aws:sourcearn': sourceArn, 'aws:sourceaccount': sourceArn.split(':')[4] ?? '' },
      }),
  };
}

/** The access key id of a request's signature (Signature Version 4); empty when it has none. */
export const accessKeyIdOf = (authorization: string | undefined): string =>
  /\bCredential=([^/,\s]+)\//.exec(authorization ?? '')?.[1] ?? '';
