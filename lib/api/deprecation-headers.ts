import type { Deprecation } from '../environment';

/**
 * The headers that tell every caller of a deprecated environment: `Deprecation` (RFC 9745, a structured date) and,
 * once the day is decided, `Sunset` (RFC 8594, an HTTP date). None for an environment that is not deprecated.
 */
export function deprecationHeaders(deprecation: Deprecation | undefined): Readonly<Record<string, string>> {
  if (!deprecation) return {};
  const { since, sunset } = deprecation;
  return {
    Deprecation: `@${Date.parse(since) / 1000}`,
    ...(sunset && { Sunset: new Date(sunset).toUTCString() }),
  };
}
