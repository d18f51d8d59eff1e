import type { LoopbackResponse } from '../../local/network/loopback-server';

// biome-ignore lint/suspicious/noExplicitAny: inputs and results of all services
type Json = any;

/**
 * The input of a call in the AWS Query protocol: `Parameters.member.1.ParameterKey=…` becomes objects and lists.
 * EC2 leaves `member` out. https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
 */
export function readQuery(body: string): Json {
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

/** https://smithy.io/2.0/aws/protocols/index.html */
export type Protocol = 'query' | 'ec2' | 'json';

/** The Query protocol wraps the result, EC2's dialect of it does not. */
export function writeResult(protocol: Protocol, action: string, result: Json): LoopbackResponse {
  const bodies = {
    query: () => writeXml(`${action}Response`, { [`${action}Result`]: result }, 'member'),
    ec2: () => writeXml(`${action}Response`, result, 'item'),
    json: () => JSON.stringify(result),
  };
  return { status: 200, headers: {}, body: bodies[protocol]() };
}

export function writeRefusal(protocol: Protocol, code: string, message = ''): LoopbackResponse {
  const error = { Error: { Code: code, Message: message } };
  const bodies = {
    query: () => writeXml('ErrorResponse', error, 'member'),
    ec2: () => writeXml('Response', { Errors: error }, 'item'),
    json: () => JSON.stringify({ __type: code, message }),
  };
  return { status: 400, headers: { 'x-amzn-errortype': code }, body: bodies[protocol]() };
}

/** A value as XML. Lists are elements called `item`, in EC2's dialect, or `member`. `undefined` is left out. */
function writeXml(name: string, value: Json, item: 'item' | 'member'): string {
  if (value === undefined) return '';
  return `<${name}>${content(value, item)}</${name}>`;
}

function content(value: Json, item: 'item' | 'member'): string {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((one) => writeXml(item, one, item)).join('');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, inner]) => writeXml(key, inner, item))
      .join('');
  }
  return String(value).replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
