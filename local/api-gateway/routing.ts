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
 * at.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-method-settings-method-request.html
 *
 * @param path raw, still percent-encoded
 */
export function findMethod(model: RestApiModel, httpMethod: string, path: string): Match | undefined {
  const segments = split(path);
  const [best] = model.routes
    .filter((route) => matches(split(route.resourcePath), segments))
    .sort((a, b) => rank(a).localeCompare(rank(b)));
  const method = best?.methods[httpMethod];
  if (!best || !method) return undefined;
  return { route: best, method, pathParameters: parametersOf(split(best.resourcePath), segments) };
}

function split(path: string): string[] {
  const segments = path.replace(/^\//, '').split('/');
  while (segments.at(-1) === '') segments.pop();
  return segments;
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  const fits = (part: string, index: number) =>
    isParameter(part) ? segments[index] !== '' : part === segments[index];
  return segments.length === pattern.length && pattern.every(fits);
}

/** Orders from the first segment on: a literal comes before a parameter. */
function rank({ resourcePath }: Route): string {
  return split(resourcePath)
    .map((part) => Number(isParameter(part)))
    .join('');
}

function parametersOf(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | null {
  const parameters = pattern.flatMap((part, index) => {
    if (!isParameter(part)) return [];
    return [[part.slice(1, -1), decodePercent(segments[index] ?? '')] as const];
  });
  return parameters.length > 0 ? Object.fromEntries(parameters) : null;
}
