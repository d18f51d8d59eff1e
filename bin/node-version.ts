import { engines } from '../package.json';

// Imported before everything else, which may not even load on what this warns of.
const warning = warningOf(process.versions.node);
if (warning) process.stderr.write(warning);

/** A line for a version of Node.js below the floor of package.json; nothing for others. */
export function warningOf(version: string): string {
  const floor = engines.node.replace('>=', '');
  const [[major = 0, minor = 0], [leastMajor = 0, leastMinor = 0]] = [numbers(version), numbers(floor)];
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return '';
  return `warning: this is Node.js ${version}; ${floor} or newer is needed. Install one: https://nodejs.org/\n`;
}

function numbers(version: string): readonly number[] {
  return version.split('.').map(Number);
}
