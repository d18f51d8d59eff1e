import type { APIGatewayProxyEvent } from 'aws-lambda';
import { createHandler, fillPage } from '../../../lambda/serve-dashboard/handler';

const page = '<script type="application/json">"{{facts}}"</script><p>$&</p>';

it('inserts the facts into the page, escaped so that they cannot close their element', () => {
  const facts = JSON.stringify({ purpose: '</script><script>alert(1)</script><!-- $& $1' });
  const filled = fillPage(page, facts);
  const [, held = ''] = /<script type="application\/json">(.*?)<\/script><p>\$&<\/p>$/.exec(filled) ?? [];
  expect(held).not.toContain('<');
  expect(JSON.parse(held)).toEqual(JSON.parse(facts));
});

it.each(['', `${page}${page}`])('refuses a page without exactly one placeholder', (broken) => {
  expect(() => fillPage(broken, '{}')).toThrow('exactly one');
});

it('returns the same page to everyone, with the configured headers', async () => {
  const handle = createHandler({ page: '<p>', headers: { 'Cache-Control': 'no-store' } });
  expect(await handle({} as APIGatewayProxyEvent)).toEqual({
    statusCode: 200,
    headers: { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' },
    body: '<p>',
  });
});
