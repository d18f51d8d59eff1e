import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';

const pageRoot = resolve(__dirname, '../../dashboard');

/** The dashboard as one document, for every environment the same. */
export interface DashboardPage {
  readonly html: string;
  /** Sources for a content security policy that let the page's own script and style in, and no other. */
  readonly scriptSource: string;
  readonly styleSource: string;
}

let built: DashboardPage | undefined;

/** Built on first use, once in a process. @throws Error with esbuild's findings when it does not build */
export function dashboardPage(): DashboardPage {
  built ??= build();
  return built;
}

function build(): DashboardPage {
  const { outputFiles } = buildSync({
    absWorkingDir: pageRoot,
    entryPoints: ['page.ts', 'page.css'],
    outdir: 'page',
    write: false,
    bundle: true,
    platform: 'browser',
    // Browsers of the last two years: `light-dark()` is of May 2024 at the latest.
    // https://developer.mozilla.org/en-US/docs/Web/CSS/color_value/light-dark
    target: ['chrome123', 'firefox120', 'safari17.5'],
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
    // Functions, because a replacement's `$` would mean something.
    html: readFileSync(join(pageRoot, 'page.html'), 'utf8')
      .replace('<!-- style -->', () => `<style>${style}</style>`)
      .replace('<!-- script -->', () => `<script>${script}</script>`),
    scriptSource: hashSource(script),
    styleSource: hashSource(style),
  };
}

/** https://www.w3.org/TR/CSP3/#grammardef-hash-source */
function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
