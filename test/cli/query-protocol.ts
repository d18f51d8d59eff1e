import type { LoopbackResponse } from '../../local/aws/loopback-server';

// biome-ignore lint/suspicious/noExplicitAny: inputs and results of all services
type Json = any;

/**
 * The input of a call in the AWS Query protocol: `Parameters.member.1.ParameterKey=…` becomes objects and lists.
 * EC2 omits `member`. https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
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
  const body = protocol === 'query' ? { [`${action}Result`]: result } : result;
  return { status: 200, headers: {}, body: write(protocol, `${action}Response`, body) };
}

export function writeRefusal(protocol: Protocol, Code: string, Message = ''): LoopbackResponse {
  const error = { Error: { Code, Message } };
  const body = { query: error, ec2: { Errors: error }, json: { message: Message } }[protocol];
  const root = protocol === 'ec2' ? 'Response' : 'ErrorResponse';
  return { status: 400, headers: { 'x-amzn-errortype': Code }, body: write(protocol, root, body) };
}

const write = (protocol: Protocol, root: string, body: Json): string =>
  protocol === 'json' ? JSON.stringify(body) : element(root, body, protocol === 'ec2' ? 'item' : 'member');

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
