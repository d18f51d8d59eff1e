import { createHmac } from 'node:crypto';
import type { RoleKind } from '../../domain/workflow-roles';
import { permissionsOf } from '../../lib/account/permissions';
import {
  type LoopbackRequest,
  type LoopbackResponse,
  type LoopbackServer,
  startLoopbackServer,
} from '../../local/shared/loopback-server';
import { first } from '../support/rows';

// biome-ignore lint/suspicious/noExplicitAny: inputs and results of all services
type Json = any;

/** One call of an SDK, recognized by its signature; or, with the service `api`, an unsigned request. */
export interface Call {
  /** The service's name in the signature, such as `servicequotas`. */
  readonly service: string;
  readonly region: string;
  /** In REST, method and URL. */
  readonly action: string;
  readonly input: Json;
}

/** A result or a refusal of the service, or any response. */
export type Reply =
  | { readonly result: Json }
  | { readonly refusal: string; readonly message: string }
  | Partial<LoopbackResponse>;
export type Replies = Readonly<Record<string, (call: Call) => Reply>>;

export const result = (value: unknown): Reply => ({ result: value });
export const refusal = (code: string, message = 'No.'): Reply => ({ refusal: code, message });

/** AWS on a free port of 127.0.0.1 in a test file, in the protocol of each service. @returns it, within a test */
export function useAccount() {
  const { env } = process;
  const calls: Call[] = [];
  let replies: Replies = {};
  let server: LoopbackServer;
  beforeAll(async () => {
    server = await startLoopbackServer(async (request) => {
      const call = readCall(request);
      calls.push(call);
      const name = `${call.service}:${call.action}`;
      const respond = replies[name] ?? replies[`${call.service}:*`];
      return writeReply(call, respond?.(call) ?? refusal('InvalidAction', `${name} is not served here.`));
    }, 1_000_000);
    const own = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_MAX_ATTEMPTS: '1' };
    process.env = { ...env, ...own, AWS_ENDPOINT_URL: server.url };
  });
  afterAll(async () => {
    process.env = env;
    await server.close();
  });
  return () => ({
    url: server.url,
    /** Since the last `answer`. */
    calls: calls as readonly Call[],
    /** Sets the responses: by `service:Action` or `service:*`; the first of two wins. */
    answer(...all: readonly Replies[]) {
      calls.length = 0;
      replies = Object.assign({}, ...all.toReversed());
    },
  });
}

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

/**
 * The input of a call in the AWS Query protocol: `Parameters.member.1.ParameterKey=…` becomes objects and lists.
 * EC2 omits `member`. https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
 */
function readQuery(body: string): Json {
  const input: Json = {};
  for (const [path, value] of new URLSearchParams(body)) {
    const keys = path.split('.').filter((key) => key !== 'member');
    let place = input;
    keys.forEach((key, index) => {
      const isLast = index === keys.length - 1;
      const name = /^\d+$/.test(key) ? Number(key) - 1 : key;
      place[name] ??= isLast ? value : /^\d+$/.test(keys[index + 1] ?? '') ? [] : {};
      place = place[name];
    });
  }
  return input;
}

const queryServices = ['sts', 'iam', 'rds', 'cloudformation'];

/** A result or a refusal in the service's protocol: https://smithy.io/2.0/aws/protocols/index.html */
function writeReply({ service, action }: Call, reply: Reply): LoopbackResponse {
  if (!('result' in reply || 'refusal' in reply)) return { status: 200, headers: {}, body: '', ...reply };
  const isQuery = queryServices.includes(service);
  const item = isQuery ? 'member' : 'item';
  const write = (root: string, body: Json) =>
    isQuery || service === 'ec2' ? element(root, body, item) : JSON.stringify(body);
  if ('result' in reply) {
    const body = isQuery ? { [`${action}Result`]: reply.result } : reply.result;
    return { status: 200, headers: {}, body: write(`${action}Response`, body) };
  }
  const { refusal: Code, message } = reply;
  const error = { Error: { Code, Message: message } };
  // Query, EC2's dialect of it and JSON read one each.
  const body = write('ErrorResponse', { ...error, Errors: error, message });
  return { status: 400, headers: { 'x-amzn-errortype': Code }, body };
}

/** Lists are elements called `item`, in EC2's dialect, or `member`, or as the key says: `{ 'Zone[]': […] }`. */
function element(name: string, value: Json, item: string): string {
  if (value === undefined) return '';
  if (name.endsWith('[]')) return value.map((one: Json) => element(name.slice(0, -2), one, item)).join('');
  const content =
    typeof value === 'object'
      ? Object.entries(Array.isArray(value) ? { [`${item}[]`]: value } : value)
          .map(([key, inner]) => element(key, inner, item))
          .join('')
      : String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<${name}>${content}</${name}>`;
}

/** An account with one stack. @param name @default - with every stack */
export const onlyDeployed = (name?: string, more: object = {}): Replies => ({
  'cloudformation:DescribeStacks': ({ input: { StackName }, region }) => {
    if (StackName !== (name ?? StackName))
      return refusal('ValidationError', 'Stack with that id does not exist');
    const StackId = `arn:aws:cloudformation:${region}:111122223333:stack/${StackName}/0`;
    const known = { StackStatus: 'UPDATE_COMPLETE', LastUpdatedTime: '2026-11-20T12:00:00.000Z' };
    return result({ Stacks: [{ StackId, StackName, ...known, ...more }] });
  },
});
/** A key makes MACs of its own: a webhook's secret is one. */
export const macs: Replies = {
  'kms:GenerateMac': ({ input: { KeyId, Message } }) =>
    result({ Mac: createHmac('sha256', KeyId).update(Message, 'base64').digest('base64') }),
};
export const withStacks = (more: object = {}) => onlyDeployed(undefined, more);
export const withoutStacks = onlyDeployed('none');

export const resource = (ResourceType: string, PhysicalResourceId: string, LogicalResourceId = 'One') => ({
  ResourceType,
  PhysicalResourceId,
  LogicalResourceId,
  ResourceStatus: 'CREATE_COMPLETE',
});
export const withResources = (...resources: readonly Readonly<Parameters<typeof resource>>[]): Replies => ({
  'cloudformation:ListStackResources': () =>
    result({ StackResourceSummaries: resources.map((each) => resource(...each)) }),
});

/** The API calls that a role of the workflows has no permission for, besides S3's, whose protocol has no action. */
export function notGranted(role: RoleKind, calls: readonly Call[]): readonly string[] {
  const granted = permissionsOf(first, 'qualifier')[role].flatMap(({ actions }) => actions);
  const names = granted.map((action) => action.split(':')[1]);
  return (
    calls
      .filter(({ service }) => !/^(api|s3)$/.test(service))
      // Two permissions have other names.
      .map(({ action }) => action.replace(/^Invoke$/, 'InvokeFunction').replace(/^(SendMessage)Batch$/, '$1'))
      .filter((action) => !names.includes(action))
  );
}
