import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { builtFor } from '../functions/builds';

/** Headers of every response of the dashboard's address. HSTS is for the exact host. Two years: https://hstspreload.org */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=63072000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The dashboard as one document, the same for every environment, and its response headers. @throws Error with esbuild's errors */
export function dashboardPage() {
  const files = builtFor('dashboard');
  const [script = '', style = ''] = ['page.js', 'page.css'].map((name) =>
    Buffer.from(files.get(name) ?? '')
      .toString()
      .trim(),
  );
  return {
    // Functions, because `$` has a meaning in replacement strings.
    html: readFileSync(resolve(__dirname, '../../dashboard/page.html'), 'utf8')
      .replace('<!-- style -->', () => `<style>${style}</style>`)
      .replace('<!-- script -->', () => `<script>${script}</script>`)
      .replace('<!-- guide -->', snippets),
    headers: pageHeaders(hashSource(script), hashSource(style)),
  };
}

const escaped = (text: string) => text.replace(/[&<]/g, (each) => `&#${each.charCodeAt(0)};`);

/** The receivers' guide's code as tabs: each block that has a heading and a sentence of its own. */
function snippets(): string {
  const guide = readFileSync(resolve(__dirname, '../../docs/receivers.md'), 'utf8');
  const blocks = guide.matchAll(/^### (\w+).*\n\n((?:(?!```).+\n)+)\n```\w+\n([\s\S]*?)\n```$/gm);
  const panels = Array.from(blocks, (block) => {
    const [, name = '', note = '', code = ''] = block;
    return `<div id="${name.toLowerCase()}" class="code" data-copy="the ${name} code">
      <h3>${name}</h3>
      <p class="quiet">${escaped(note.replaceAll('`', ''))}</p>
      <pre tabindex="0">${escaped(code)}</pre>
    </div>`;
  });
  return `<div data-tabs="Language">${panels.join('')}</div>`;
}

/** https://www.w3.org/TR/CSP3/#grammardef-hash-source */
const hashSource = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Only its own script and style, nothing sent, no frame. People paste secrets: no cache, the back/forward cache included. */
function pageHeaders(script: string, style: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `script-src ${script}`,
    `style-src ${style}`,
    // The icon is inline.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // No user input becomes markup.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    ...securityHeaders,
    'Content-Security-Policy': policy.join('; '),
    'Permissions-Policy':
      'camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
    'Cache-Control': 'no-store',
  };
}
