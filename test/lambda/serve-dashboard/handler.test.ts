import type { APIGatewayProxyEvent } from 'aws-lambda';
import { createHandler } from '../../../lambda/serve-dashboard/handler';

it('returns the page with the configured headers', async () => {
  const handle = createHandler({ page: '<p>', headers: { 'Cache-Control': 'no-store' } });
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
  expect(await handle({} as APIGatewayProxyEvent)).toEqual({ statusCode: 200, headers, body: '<p>' });
});
