import type { APIGatewayProxyEvent } from 'aws-lambda';
import { createHandler, fillPage } from '../../../lambda/serve-dashboard/handler';

const page = '<script type="application/json">"{{facts}}"</script><p>$&</p>';

it('inserts the facts into the page, escaped so that they cannot close their element', () => {
  const facts = JSON.stringify({ title: '</script><!-- $& $1' });
  const escaped = facts.replaceAll('<', '\\u003c');
  expect(fillPage(page, facts)).toBe(`<script type="application/json">${escaped}</script><p>$&</p>`);
});

it.each(['', `${page}${page}`])('refuses a page without exactly one placeholder', (broken) => {
  expect(() => fillPage(broken, '{}')).toThrow('exactly one');
});

it('returns the page with the configured headers', async () => {
  const handle = createHandler({ page: '<p>', headers: { 'Cache-Control': 'no-store' } });
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
  expect(await handle({} as APIGatewayProxyEvent)).toEqual({ statusCode: 200, headers, body: '<p>' });
});
