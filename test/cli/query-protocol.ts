import type { LoopbackResponse } from '../../local/shared/loopback-server';

// biome-ignore lint/suspicious/noExplicitAny: inputs and results of all services
type Json = any;
export type ServiceReply = { readonly result: Json } | { readonly refusal: string; readonly message: string };

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

const queryServices = ['sts', 'iam', 'rds', 'cloudformation'];

/** A result or a refusal in the service's protocol: https://smithy.io/2.0/aws/protocols/index.html */
export function writeReply(service: string, action: string, reply: ServiceReply): LoopbackResponse {
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
