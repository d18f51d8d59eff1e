import type { RoleKind } from '../../domain/workflow-roles';
import { permissionsOf } from '../../lib/account/permissions';
import {
  type LoopbackRequest,
  type LoopbackResponse,
  startLoopbackServer,
} from '../../local/shared/loopback-server';
import { first } from '../support/rows';
import { readQuery, type ServiceReply, writeReply } from './query-protocol';

/** One call of an SDK, recognized by its signature; or, with the service `api`, an unsigned request. */
export interface Call {
  /** The service's name in the signature, such as `servicequotas`. */
  readonly service: string;
  readonly region: string;
  /** In REST, method and URL. */
  readonly action: string;
  // biome-ignore lint/suspicious/noExplicitAny: inputs of all services
  readonly input: any;
}

/** A result or a refusal of the service, or any response. */
export type Reply = ServiceReply | Partial<LoopbackResponse>;
export type Replies = Readonly<Record<string, (call: Call) => Reply>>;

export const result = (value: unknown): Reply => ({ result: value });
export const refusal = (code: string, message = 'No.'): Reply => ({ refusal: code, message });

/** AWS on a free port of 127.0.0.1, in the protocol of each service. */
export async function startAccount() {
  const calls: Call[] = [];
  let replies: Replies = {};
  const server = await startLoopbackServer(async (request) => {
    const call = readCall(request);
    calls.push(call);
    const name = `${call.service}:${call.action}`;
    const respond = replies[name] ?? replies[`${call.service}:*`];
    const reply = respond ? respond(call) : refusal('InvalidAction', `${name} is not served here.`);
    return 'result' in reply || 'refusal' in reply
      ? writeReply(call.service, call.action, reply)
      : { status: 200, headers: {}, body: '', ...reply };
  }, 1_000_000);
  return {
    url: server.url,
    /** Since the last `answer`. */
    calls: calls as readonly Call[],
    /** Sets the responses: by `service:Action` or `service:*`; the first of two wins. */
    answer(...all: readonly Replies[]) {
      calls.length = 0;
      replies = Object.assign({}, ...all.toReversed());
    },
    close: server.close,
  };
}

export type Account = Awaited<ReturnType<typeof startAccount>>;

/** The AWS endpoint of a test file, set through the SDK's variables. @returns the account, within a test */
export function useAccount(): () => Account {
  const { env } = process;
  let account: Account;
  beforeAll(async () => {
    account = await startAccount();
    process.env = { ...env, ...accountVariables(account.url) };
  });
  afterAll(async () => {
    process.env = env;
    await account.close();
  });
  return () => account;
}

/** The variables that direct the SDK to an account, in any process. */
export const accountVariables = (url: string): Readonly<Record<string, string | undefined>> => ({
  AWS_ENDPOINT_URL: url,
  AWS_ENDPOINT_URL_SQS: undefined,
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: undefined,
  AWS_PROFILE: undefined,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_MAX_ATTEMPTS: '1',
});

/** REST paths, such as `/2015-03-31/functions/NAME/invocations`. */
const restActions: readonly (readonly [path: RegExp, action: string])[] = [
  [/^\/account-settings$/, 'DescribeRegionSettings'],
  [/\/account-settings$/, 'GetAccountSettings'],
  [/^\/backup-vaults\/?\?/, 'ListBackupVaults'],
  [/^\/logically-air-gapped-backup-vaults\/(?<BackupVaultName>[^/]+)\//, 'ListRestoreAccessBackupVaults'],
  [/\/getRegionOptStatus$/, 'GetRegionOptStatus'],
  [/\/event-source-mappings\/(?<UUID>.+)$/, 'GetEventSourceMapping'],
  [/\/functions\/(?<FunctionName>.+)\/concurrency$/, 'GetFunctionConcurrency'],
  [/\/functions\/.+\/invocations$/, 'Invoke'],
];

function readCall({ method, url, headers, body }: LoopbackRequest): Call {
  const [, , region = '', service = 'api'] =
    /Credential=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split('/') ?? [];
  const [path, restAction] = restActions.find(([pattern]) => pattern.test(url)) ?? [];
  const action = headers['x-amz-target']?.toString().split('.').at(-1) ?? restAction;
  if (action !== undefined) {
    const input = { ...JSON.parse(String(body) || '{}'), ...path?.exec(url)?.groups };
    return { service, region, action, input };
  }
  const { Action = `${method} ${url}`, ...input } = readQuery(String(body));
  const bucketOwner = headers['x-amz-expected-bucket-owner'];
  return { service, region, action: Action, input: { ...input, bucketOwner } };
}

/** An account with stacks. */
export const withStacks = (more: object = {}): Replies => ({
  'cloudformation:DescribeStacks': ({ input: { StackName }, region }) => {
    const StackId = `arn:aws:cloudformation:${region}:111122223333:stack/${StackName}/0`;
    const known = { StackStatus: 'UPDATE_COMPLETE', LastUpdatedTime: '2026-11-20T12:00:00.000Z' };
    return result({ Stacks: [{ StackId, StackName, ...known, ...more }] });
  },
});

export const withoutStacks: Replies = {
  'cloudformation:DescribeStacks': () => refusal('ValidationError', 'Stack with that id does not exist'),
};

type Resource = readonly [type: string, physicalId: string, logicalId?: string];
/** A stack's resources. */
export const withResources = (...resources: readonly Resource[]): Replies => ({
  'cloudformation:ListStackResources': () => {
    const StackResourceSummaries = resources.map(
      ([ResourceType, PhysicalResourceId, LogicalResourceId = 'Resource']) => {
        return { LogicalResourceId, ResourceType, PhysicalResourceId };
      },
    );
    return result({ StackResourceSummaries });
  },
});

/** The API calls that a role of the workflows has no permission for. */
export function callsNotGranted(role: RoleKind, calls: readonly Call[]): readonly string[] {
  const granted = permissionsOf(first, 'qualifier')[role].flatMap(({ actions }) => actions);
  const names = granted.map((action) => action.split(':')[1]);
  return calls.map(({ action }) => action).filter((action) => !names.includes(action));
}
