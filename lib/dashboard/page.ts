import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';

/** Headers of every response of the dashboard's address. HSTS is for the exact host. Two years: https://hstspreload.org */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=63072000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

let built: ReturnType<typeof buildPage> | undefined;

/** Built on first use, once in a process. @throws Error with esbuild's errors */
export function dashboardPage() {
  built ??= buildPage();
  return built;
}

/** The dashboard as one document, the same for every environment, and its response headers. */
export function buildPage() {
  const absWorkingDir = resolve(__dirname, '../../dashboard');
  const { outputFiles } = buildSync({
    absWorkingDir,
    entryPoints: ['page.ts', 'page.css'],
    outdir: 'page',
    write: false,
    bundle: true,
    platform: 'browser',
    // Browsers of the last two years. `light-dark()` is of May 2024 at the latest:
    // https://developer.mozilla.org/en-US/docs/Web/CSS/color_value/light-dark
    target: ['chrome123', 'firefox121', 'safari17.5'],
    format: 'iife',
    charset: 'utf8',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const text = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? '';
  const [script, style] = [text('.js'), text('.css')];
  return {
    // Functions, because `$` has a meaning in replacement strings.
    html: readFileSync(join(absWorkingDir, 'page.html'), 'utf8')
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
