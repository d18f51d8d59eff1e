/** The parts of a request's target that API Gateway hands on. */
export interface Target {
  /** Raw, still percent-encoded; several slashes at its beginning count as one. */
  readonly path: string;
  /** Decoded names and values, in the order of the request. */
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** A name or an address, perhaps with a port. https://www.rfc-editor.org/rfc/rfc9110#section-7.2 */
const HOST = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** Whether a request names its host as it must. https://www.rfc-editor.org/rfc/rfc9112#section-3.2 */
export function namesHost(hosts: readonly string[], httpVersion: string): boolean {
  const [host, another] = hosts;
  return host === undefined ? httpVersion !== '1.1' : another === undefined && HOST.test(host);
}

/**
 * Reads the target of a request line, in origin or in absolute form.
 *
 * @param host the `Host` header
 * @returns `undefined` when a percent sign is not followed by two hexadecimal digits, and for an absolute form with another
 * scheme or host
 */
export function parseTarget(url: string, host?: string): Target | undefined {
  if (/%(?![0-9a-f]{2})/i.test(url)) return undefined;
  const [prefix = '', scheme, authority = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?]*)/i.exec(url) ?? [];
  if (prefix !== '') {
    const isOurs = host === undefined ? HOST.test(authority) : authority.toLowerCase() === host.toLowerCase();
    if (scheme?.toLowerCase() !== 'http' || !isOurs) return undefined;
  }
  const [path = '', ...rest] = url.slice(prefix.length).split('?');
  // "The semicolon character (;) is not supported for any request URL query string and results in the data being
  // split": https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
  const query = rest
    .join('?')
    .split(/[&;]/)
    .filter(Boolean)
    .map((pair) => {
      const [name = '', ...value] = pair.replaceAll('+', ' ').split('=');
      return [decodePercent(name), decodePercent(value.join('='))] as const;
    });
  return { path: path.replace(/^\/*/, path === '*' ? '' : '/'), query };
}

/**
 * Decodes to UTF-8; bytes that are none become U+FFFD.
 *
 * @param text one character a byte, as Node.js gives the request line
 */
export function decodePercent(text: string): string {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
