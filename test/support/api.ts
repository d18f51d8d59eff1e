import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { joseSignature } from '../../cli/signing';
import { localClient } from './aws-client';
import type { LocalEnvironment } from './local-environment';
import { expectDocumented } from './openapi';
import type { Organization } from './organization';
import { accessTokenClaims, type Json, userActionClaims } from './tokens';

/** A request as sent on the wire, not normalized. */
export interface WireRequest {
  readonly method?: string;
  readonly path: string;
  /** In order; names may repeat. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: { readonly code?: string; readonly requestId?: string };
}

/** Sends a request and validates the response against the OpenAPI document. */
export async function send(
  baseUrl: string,
  { method = 'DELETE', path, headers = [], body }: WireRequest,
): Promise<Answer> {
  const { hostname, port, host } = new URL(baseUrl);
  // With headers as a list, Node adds none of its own.
  const own = [
    ['host', host],
    ...(body === undefined ? [] : [['content-length', `${Buffer.byteLength(body)}`]]),
  ];
  const answer = await new Promise<Answer>((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path, headers: [...own, ...headers].flat(), timeout: 30_000 },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece) => {
          text += piece;
        });
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parse(text) });
        });
        response.on('error', reject);
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer to ${method} ${path} within 30 s`)));
    sent.on('error', reject);
    sent.end(body);
  });
  expectDocumented({
    method,
    path,
    status: answer.status,
    contentType: answer.headers['content-type'] as string | undefined,
    body: answer.text,
  });
  return answer;
}

/** As `send`, with retries while other tests exhaust the environment's rate limit. */
export async function sendPatiently(baseUrl: string, wire: WireRequest): Promise<Answer> {
  for (;;) {
    const answer = await send(baseUrl, wire);
    if (answer.status !== 429) return answer;
    await sleep(500);
  }
}

function parse(text: string): Answer['body'] {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Signs tokens with an environment's own keys; valid by default. */
export interface TokenMaker {
  accessToken(organization: Organization, claims?: Json, header?: Json): Promise<string>;
  userAction(organization: Organization, claims?: Json, header?: Json): Promise<string>;
}

/** A valid deletion of the organization's user group. */
export async function dueDeletion(tokens: TokenMaker, organization: Organization): Promise<WireRequest> {
  return deletion(
    organization,
    await tokens.accessToken(organization),
    await tokens.userAction(organization),
  );
}

/** The same with the tokens that the command line makes. */
export async function walletDeletion(
  local: LocalEnvironment,
  environment: string,
  organization: Organization,
  callerId = organization.callerId,
): Promise<WireRequest> {
  const caller = ['--caller', callerId];
  const action = ['--method', 'DELETE', '--path', deletionPath(organization)];
  return deletion(
    organization,
    await local.wallet(environment, 'token', ...caller),
    await local.wallet(environment, 'user-action', ...caller, ...action),
  );
}

/** The deletion of the organization's user group with these tokens. */
export const deletion = (organization: Organization, token: string, userAction: string) => ({
  path: deletionPath(organization),
  headers: [
    ['authorization', `Bearer ${token}`],
    ['x-svc-useraction', userAction],
  ] as const,
});

export const deletionPath = ({ userGroupId }: Organization) => `/auth/user-groups/${userGroupId}`;

/** A JWT that KMS signs (ES256). */
export async function signByKms(
  kms: KMSClient,
  arn: string | undefined,
  header: Json,
  claims: Json,
): Promise<string> {
  const encode = (part: Json) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const input = `${encode({ alg: 'ES256', ...header })}.${encode(claims)}`;
  const { Signature } = await kms.send(
    new SignCommand({ KeyId: arn, Message: Buffer.from(input), SigningAlgorithm: 'ECDSA_SHA_256' }),
  );
  return `${input}.${joseSignature(Signature ?? new Uint8Array()).toString('base64url')}`;
}

/** Signs with the private keys of a local environment, through its KMS. */
export async function openTokenMaker(
  local: LocalEnvironment,
  environment: string,
  issuer: string,
): Promise<TokenMaker> {
  const outputs = local.outputs(environment);
  const kms = new KMSClient({
    ...localClient(local.endpoints.kms ?? ''),
    region: outputs.TokenSigningKeyArn?.split(':')[3] ?? '',
  });
  const sample = await local.walletJson<Organization>(environment, 'seed');
  const keyId = async (...command: string[]) => {
    const token = await local.wallet(environment, ...command, '--caller', sample.callerId);
    return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid as string;
  };
  const keys = {
    accessToken: { arn: outputs.TokenSigningKeyArn, id: await keyId('token') },
    userAction: {
      arn: outputs.UserActionSigningKeyArn,
      id: await keyId('user-action', '--method', 'DELETE', '--path', '/auth/user-groups/ug-1'),
    },
  };
  const sign = (key: { arn: string | undefined; id: string }, header: Json, claims: Json) =>
    signByKms(kms, key.arn, { kid: key.id, ...header }, claims);
  return {
    accessToken: ({ organizationId: org, callerId: sub }, claims, header) =>
      sign(
        keys.accessToken,
        { typ: 'JWT', ...header },
        accessTokenClaims({ iss: issuer, sub, org, ...claims }),
      ),
    userAction: (organization, claims, header) => {
      const { organizationId: org, callerId: sub } = organization;
      const bound = { iss: issuer, sub, org, htp: deletionPath(organization) };
      return sign(
        keys.userAction,
        { typ: 'user-action+jwt', ...header },
        userActionClaims({ ...bound, ...claims }),
      );
    },
  };
}
