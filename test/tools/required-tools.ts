import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Commands, and the Debian packages that have them. */
const packages: Readonly<Record<string, string>> = {
  aws: 'awscli',
  git: 'git',
  python3: 'python3-venv',
};

/** Fails the whole run when a tool is absent: a skipped test proves nothing. */
export default function requireTools(): void {
  if (process.platform !== 'linux') throw new Error('The tools are tested on Linux only.');
  const missing = Object.keys(packages).filter((command) => !isInstalled(command));
  if (missing.length === 0) return;
  const names = missing.map((command) => packages[command]).join(' ');
  throw new Error(
    `${missing.join(', ')} not found. Install: apt-get install -y --no-install-recommends ${names}`,
  );
}

const isInstalled = (command: string) =>
  (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, command)));
