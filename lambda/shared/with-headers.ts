import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

type Answer = (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;

/** Gives every answer of a handler these headers besides its own. */
export const withHeaders =
  (headers: Readonly<Record<string, string>>, answer: Answer): Answer =>
  async (event) => {
    const response = await answer(event);
    return { ...response, headers: { ...response.headers, ...headers } };
  };
