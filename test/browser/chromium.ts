import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Where the browser is. @throws Error that says what to install: a skipped test proves nothing */
export function chromiumPath(): string {
  const { CHROMIUM_PATH: wanted } = process.env;
  const found = places.find((place) => place && isProgram(place));
  if (found === undefined || (wanted && found !== wanted)) {
    throw new Error(
      `${wanted ? `CHROMIUM_PATH is ${wanted}, which is no program` : 'No Chromium was found'}. ` +
        'Install it: apt-get update && apt-get install -y --no-install-recommends chromium. ' +
        'Or set CHROMIUM_PATH to one that you have.',
    );
  }
  return found;
}

/** A headless browser without background traffic, with a temporary profile. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath(),
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // A page that a test fulfils itself counts as one of the internet, which may not ask this machine.
      '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests',
      // Chromium refuses to run as root otherwise, as in a container.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
