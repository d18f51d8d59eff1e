import { createHash } from 'node:crypto';
import { dashboardPage } from '../../lib/dashboard/page';

describe('the page', () => {
  const { html, headers } = dashboardPage();
  const policy: Readonly<Record<string, string>> = Object.fromEntries(
    (headers['Content-Security-Policy'] ?? '').split('; ').map((directive) => directive.split(/ (.*)/)),
  );

  it.each(['style', 'script'])('has one %s, exactly that which its policy allows', (element) => {
    const texts = [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))];
    const hashes = texts.map(([, text = '']) => createHash('sha256').update(text).digest('base64'));
    expect(hashes.map((hash) => `'sha256-${hash}'`)).toEqual([policy[`${element}-src`]]);
  });

  it('may load and send nothing else, and may not be framed or cached', () => {
    const hashed = expect.stringMatching(/^'sha256-\S+'$/);
    expect(policy).toEqual({
      ...{ 'default-src': "'none'", 'script-src': hashed, 'style-src': hashed, 'img-src': 'data:' },
      ...{ 'base-uri': "'none'", 'form-action': "'none'", 'frame-ancestors': "'none'" },
      ...{ 'require-trusted-types-for': "'script'", 'trusted-types': "'none'" },
    });
    expect(headers['Cache-Control']).toBe('no-store');
  });
});
