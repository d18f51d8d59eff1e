import { InvalidArgumentError } from 'commander';
import { kindOfAddress } from './allow-lists/address';
import type { WebhookOrigin } from './allow-lists/allow-list';
import { CommandFailed } from './failure';
import { parseJson } from './json';
import { openTarget, readEnvironments, type Target } from './target';
import type { Terminal } from './terminal';

/** In the order of the environments table, so that the same outputs give the same list. */
export async function readDeployedOrigins(
  {
    outputs: file,
    environment: only,
  }: { readonly outputs: string; readonly environment: string | undefined },
  terminal: Pick<Terminal, 'note'>,
): Promise<WebhookOrigin[]> {
  const names = only ? [only] : (await readEnvironments(file)).map(({ environment }) => environment.name);
  const targets = await Promise.all(
    names.map((environment) => openTarget({ environment, outputs: file }, terminal)),
  );
  return targets.map((target) => readOrigin(target, file));
}

function readOrigin(target: Target, file: string): WebhookOrigin {
  const { name, region, deprecation } = target.environment;
  const usable = (output: string, address: unknown) => requireUsable(address, output, target, file);
  const reserve = target.optionalOutput('WebhookOriginReserveAddress');
  return {
    environment: name,
    region,
    address: usable('WebhookOriginAddress', target.output('WebhookOriginAddress')),
    ...(reserve !== undefined && { reserve: usable('WebhookOriginReserveAddress', reserve) }),
    ...(deprecation && { deprecation }),
  };
}

/** @param address of a file that may have been edited: it need not even be text */
function requireUsable(
  address: unknown,
  output: string,
  { environment, local }: Target,
  file: string,
): string {
  if (isUsable(address, local)) return address;
  throw new CommandFailed(
    `${output} of ${environment.name} in ${file} is ${JSON.stringify(address)}, which is no public IPv4 address.`,
    'Take the outputs file as "cdk deploy --outputs-file" or "npm start" wrote it; do not edit it.',
  );
}

/** @param local whether this machine's own addresses will do */
function isUsable(address: unknown, local: boolean): address is string {
  const kind = typeof address === 'string' ? kindOfAddress(address) : 'malformed';
  return kind === 'public' || kind === 'documentation' || (kind === 'loopback' && local);
}

/** Milliseconds: the gateway answers by itself. */
const deadline = 10_000;

/** Reads the base address of an API: over TLS, but for this machine's own. Without a slash at its end. */
export function apiAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url));
  if (url && isSafe && !url.username && !url.password && !url.search && !url.hash)
    return url.href.replace(/\/+$/, '');
  throw new InvalidArgumentError(
    'Give the base address of an API, such as https://api.example.com: https, without a query.',
  );
}

const isLoopback = ({ hostname }: URL) => kindOfAddress(hostname) === 'loopback';

/**
 * The addresses as the environment's own API publishes them, by `GET /webhook-origins`. What it says ends up in firewalls'
 * files, so nothing gets through that has another form than documented.
 *
 * @throws CommandFailed when it is not answered in 10 seconds, or otherwise than documented
 */
export async function readPublishedOrigin(api: string): Promise<WebhookOrigin> {
  const url = `${api}/webhook-origins`;
  const answer = await get(url);
  const origin = readAnswer(answer.body, isLoopback(new URL(api)));
  if (answer.status === 200 && origin) return origin;
  throw new CommandFailed(
    `GET ${url} was answered with ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}, not with the origin of an environment.`,
    'Give the base address of its API: it is on the dashboard, and the stack output ApiBaseUrl.',
  );
}

async function get(url: string) {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(deadline) });
    const body = await response.text();
    return { status: response.status, body: parseJson(body) ?? body };
  } catch (error) {
    const { message } = ((error as Error).cause ?? error) as Error;
    throw new CommandFailed(
      `GET ${url} was not answered: ${message}.`,
      'Check the address, and that this machine reaches it.',
    );
  }
}

/** @returns undefined for what is not of the documented form, or has more addresses than one */
function readAnswer(body: unknown, local: boolean): WebhookOrigin | undefined {
  const { environment, region, addresses, reserve, deprecation } = Object(body);
  const address = onlyAddress(addresses, local);
  const kept = reserve === undefined ? undefined : onlyAddress(reserve, local);
  const { since, sunset } = Object(deprecation);
  const isGood =
    isText(environment, /^[a-zA-Z0-9-]{1,40}$/) &&
    isText(region, /^[a-z0-9-]{1,40}$/) &&
    (reserve === undefined || kept !== undefined) &&
    (deprecation === undefined || isText(since, day)) &&
    (sunset === undefined || isText(sunset, day));
  if (!isGood || address === undefined) return undefined;
  return {
    environment,
    region,
    address,
    ...(kept && { reserve: kept }),
    ...(deprecation && { deprecation: { since, ...(sunset && { sunset }) } }),
  };
}

const day = /^\d{4}-\d{2}-\d{2}$/;

const isText = (value: unknown, pattern: RegExp): value is string =>
  typeof value === 'string' && pattern.test(value);

function onlyAddress(blocks: unknown, local: boolean): string | undefined {
  const [block, another] = Array.isArray(blocks) ? blocks : [];
  const address = isText(block, /\/32$/) ? block.slice(0, -'/32'.length) : undefined;
  return another === undefined && isUsable(address, local) ? address : undefined;
}
