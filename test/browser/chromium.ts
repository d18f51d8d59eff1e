import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** A headless browser with a temporary profile. @throws Error that says what to install: a skipped test proves nothing */
export function launchChromium(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH ?? places.find(existsSync);
  if (executablePath === undefined)
    throw new Error('No Chromium was found. Install it (apt-get install chromium), or set CHROMIUM_PATH.');
  // Chromium refuses to run as root otherwise, as in a container.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: ['--disable-gpu', '--no-first-run', ...asRoot] });
}
