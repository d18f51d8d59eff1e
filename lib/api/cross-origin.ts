import type { Resource } from 'aws-cdk-lib/aws-apigateway';
import { addStaticMethod } from './static-method';

/** Seconds that a browser keeps the permission. */
const MAX_AGE = 600;

/**
 * Headers by which a browser lets the pages of one origin read a response. Every response has them, so that the page can
 * read refusals too. They are the same for all callers, so `Vary` is not needed.
 */
export function crossOriginHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'Retry-After, Deprecation, Sunset',
  };
}

export interface PreflightProps {
  readonly method: string;
  /** Request headers that the pages may send. */
  readonly requestHeaders: readonly string[];
  readonly operationName: string;
  /** Sent besides the preflight's own: `crossOriginHeaders` are among them. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Answers, straight from the gateway, a browser that asks whether a page may send a request (Fetch standard, CORS
 * preflight: https://fetch.spec.whatwg.org/#cors-preflight-fetch). It allows the pages of one origin, without cookies;
 * what the request needs to be admitted is decided as for any other.
 */
export function addPreflight(resource: Resource, props: PreflightProps): void {
  addStaticMethod(resource, 'OPTIONS', {
    operationName: props.operationName,
    statusCode: '204',
    headers: {
      'Access-Control-Allow-Methods': props.method,
      'Access-Control-Allow-Headers': props.requestHeaders.join(', '),
      'Access-Control-Max-Age': String(MAX_AGE),
      'Cache-Control': 'no-store',
      ...props.headers,
    },
  });
}
