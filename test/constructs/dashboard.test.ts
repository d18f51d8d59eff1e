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
    for (const name of ['default-src', 'base-uri', 'form-action', 'frame-ancestors', 'trusted-types'])
      expect(policy[name]).toBe("'none'");
    expect(policy['require-trusted-types-for']).toBe("'script'");
    expect(headers['Cache-Control']).toBe('no-store');
    const sources = Object.keys(policy).filter((name) => /-src$/.test(name));
    expect(sources.sort()).toEqual(['default-src', 'img-src', 'script-src', 'style-src']);
  });
});
