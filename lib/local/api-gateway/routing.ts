import type { MethodModel, RestApiModel, Route } from './model';
import { decodePercent } from './target';

export interface Match {
  readonly route: Route;
  readonly method: MethodModel;
  /** Decoded. `null` when the route has no parameters, as in the event. */
  readonly pathParameters: Readonly<Record<string, string>> | null;
}

/**
 * Finds the method for a request, as a REST API does: segments are split before they are decoded, so an encoded slash
 * stays inside its segment; a trailing slash is ignored; the most specific resource wins before the method is looked
 * at; a greedy parameter takes one or more segments.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-method-settings-method-request.html
 *
 * @param path raw, still percent-encoded
 */
export function findMethod(model: RestApiModel, httpMethod: string, path: string): Match | undefined {
  const segments = split(path);
  const [best] = model.routes
    .filter((route) => matches(split(route.resourcePath), segments))
    .sort((a, b) => compare(split(a.resourcePath), split(b.resourcePath)));
  const method = best?.methods[httpMethod] ?? best?.methods.ANY;
  if (!best || !method) return undefined;
  return { route: best, method, pathParameters: parametersOf(split(best.resourcePath), segments) };
}

function split(path: string): string[] {
  const trimmed = path.replace(/^\/|\/+$/g, '');
  return trimmed === '' ? [] : trimmed.split('/');
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function isGreedy(segment: string | undefined): boolean {
  return segment?.endsWith('+}') ?? false;
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  const greedy = isGreedy(pattern.at(-1));
  if (greedy ? segments.length < pattern.length : segments.length !== pattern.length) return false;
  return pattern.every((part, index) =>
    isParameter(part) ? segments[index] !== '' : part === segments[index],
  );
}

/** Orders from the first segment on: literal, parameter, greedy parameter. */
function compare(a: readonly string[], b: readonly string[]): number {
  const rank = (segment = '') => (isGreedy(segment) ? 2 : isParameter(segment) ? 1 : 0);
  const length = Math.max(a.length, b.length);
  const index = Array.from({ length }, (_, i) => i).find((i) => rank(a[i]) !== rank(b[i]));
  return index === undefined ? 0 : rank(a[index]) - rank(b[index]);
}

function parametersOf(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | null {
  const parameters = pattern.flatMap((part, index) => {
    if (!isParameter(part)) return [];
    const value = isGreedy(part) ? segments.slice(index).join('/') : (segments[index] ?? '');
    return [[part.replace(/^\{|\+?\}$/g, ''), decodePercent(value)] as const];
  });
  return parameters.length > 0 ? Object.fromEntries(parameters) : null;
}
