import type { APIGatewayProxyEvent } from 'aws-lambda';
import { createHandler, fillPage } from '../../../lambda/serve-dashboard/handler';

const page = '<script type="application/json">"{{facts}}"</script><p>$&</p>';

it('the facts are in the page, and cannot end the element that holds them', () => {
  const facts = JSON.stringify({ purpose: '</script><script>alert(1)</script><!-- $& $1' });
  const filled = fillPage(page, facts);
  const [, held = ''] = /<script type="application\/json">(.*?)<\/script><p>\$&<\/p>$/.exec(filled) ?? [];
  expect(held).not.toContain('<');
  expect(JSON.parse(held)).toEqual(JSON.parse(facts));
});

it.each(['', `${page}${page}`])('a page without exactly one place for them is refused', (broken) => {
  expect(() => fillPage(broken, '{}')).toThrow('exactly one');
});

it('gives the same page to all, with the configured headers', async () => {
  const handle = createHandler({ page: '<p>', headers: { 'Cache-Control': 'no-store' } });
  expect(await handle({} as APIGatewayProxyEvent)).toEqual({
    statusCode: 200,
    headers: { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' },
    body: '<p>',
  });
});
