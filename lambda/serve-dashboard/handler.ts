import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { bindDependencies } from '../shared/bind-dependencies';
import { readVariables } from '../shared/variables';
import { fillPage } from './fill-page';
import { pageFile, variables } from './variables';

export function createDependencies() {
  const { FACTS, RESPONSE_HEADERS } = readVariables(variables, process.env);
  return {
    page: fillPage(readFileSync(join(__dirname, pageFile), 'utf8'), JSON.parse(FACTS)),
    headers: JSON.parse(RESPONSE_HEADERS) as Readonly<Record<string, string>>,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** `GET /` and `HEAD /`: the same page for every visitor. */
export const createHandler =
  ({ page, headers }: Dependencies) =>
  async ({ httpMethod }: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => ({
    statusCode: 200,
    headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers },
    body: httpMethod === 'HEAD' ? '' : page,
  });

export const handler = bindDependencies(createHandler, createDependencies);
