import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { bind } from '../shared/bind';
import { readVariables } from '../shared/variables';
import { factsMarker, pageFile, variables } from './variables';

export function createDependencies() {
  const { FACTS, OTHER_DASHBOARDS, RESPONSE_HEADERS } = readVariables(variables, process.env);
  const facts = { ...JSON.parse(FACTS), others: JSON.parse(OTHER_DASHBOARDS) };
  return {
    page: fillPage(readFileSync(join(__dirname, pageFile), 'utf8'), JSON.stringify(facts)),
    headers: JSON.parse(RESPONSE_HEADERS) as Readonly<Record<string, string>>,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/**
 * Inserts the facts into the page's script element for data. Escapes every `<`, so that no fact can close the element.
 *
 * @throws Error unless the page contains exactly one placeholder
 */
export function fillPage(page: string, facts: string): string {
  const [before, after, ...more] = page.split(factsMarker);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`The page must contain exactly one ${factsMarker}.`);
  }
  return before + facts.replaceAll('<', '\\u003c') + after;
}

/** `GET /`: the same page for every visitor. */
export const createHandler =
  ({ page, headers }: Dependencies) =>
  async (_event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => ({
    statusCode: 200,
    headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers },
    body: page,
  });

export const handler = bind(createHandler, createDependencies);
