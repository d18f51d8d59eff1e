import type { DashboardPage } from './page';

/** Headers of every response of the dashboard's address. HSTS is for the exact host. Two years: https://hstspreload.org */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=63072000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * The headers of the page. It loads nothing, sends nothing, and may not be framed. People paste secrets into it, so no
 * cache keeps it, not even the back button's.
 */
export function pageHeaders(page: DashboardPage): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `script-src ${page.scriptSource}`,
    `style-src ${page.styleSource}`,
    // The icon stands in the page.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // No text of a person ever becomes markup.
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
