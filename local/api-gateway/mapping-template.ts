import { render } from 'velocityjs';
import type { RoutedRequest } from './event';
import { headerOf } from './request';

/** What a mapping template gives: the body, and what it sets of the response in place of the integration response's. */
export interface MappedResponse {
  readonly body: string;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Of the Velocity template language and of the gateway's variables, all that `mapResponse` does not do as the gateway. */
const unserved =
  /\$!|\$\{?util\b|\$\{?input\b(?!\.params\('[\w-]+'\))|#\{?(?:foreach|macro|define|parse|include|evaluate|stop|break)\b/;

/** The first thing in a mapping template that is not served here. */
export const unservedIn = (template: string): string | undefined => unserved.exec(template)?.[0];

/**
 * Renders the template of an integration response: `$context`, `$input.params('name')`, `#set`, `#if`, and overrides.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
export function mapResponse(template: string, { context, request, match }: RoutedRequest): MappedResponse {
  const override: { status?: number; header: Record<string, string> } = { header: {} };
  // "searched in that order"
  const parameter = (name: string) =>
    new Map(Object.entries(match.pathParameters ?? {})).get(name) ??
    request.target.query.findLast(([each]) => each === name)?.[1] ??
    headerOf(request, name) ??
    '';
  const body = render(template, {
    context: { ...context, responseOverride: override },
    input: { params: parameter },
  });
  return { body, status: override.status, headers: override.header };
}
