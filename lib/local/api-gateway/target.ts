/** The parts of a request's target that API Gateway hands on. */
export interface Target {
  /** Raw, still percent-encoded; several slashes at its beginning count as one. */
  readonly path: string;
  /** Decoded names and values, in the order of the request. */
  readonly query: readonly (readonly [name: string, value: string])[];
}

/**
 * Reads the target of a request line, in origin or in absolute form.
 *
 * @returns `undefined` when a percent sign is not followed by two hexadecimal digits
 */
export function parseTarget(url: string): Target | undefined {
  if (/%(?![0-9a-f]{2})/i.test(url)) return undefined;
  const origin = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '');
  const [path = '', ...rest] = origin.split('?');
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
