import { engines } from '../package.json';

// Imported first: the other modules may not load on an older Node.js.
const warning = warningOf(process.versions.node);
if (warning) process.stderr.write(warning);

/** A warning if Node.js is older than package.json requires; otherwise empty. */
export function warningOf(version: string): string {
  const floor = engines.node.replace('>=', '');
  const [[major = 0, minor = 0], [leastMajor = 0, leastMinor = 0]] = [numbers(version), numbers(floor)];
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return '';
  return `warning: this is Node.js ${version}; ${floor} or newer is needed. Install one: https://nodejs.org/\n`;
}

function numbers(version: string): readonly number[] {
  return version.split('.').map(Number);
}
