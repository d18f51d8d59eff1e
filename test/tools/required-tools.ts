import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** Commands and files, and the Debian packages that have them. */
const packages: Readonly<Record<string, string>> = {
  aws: 'awscli',
  git: 'git',
  python3: 'python3-venv',
  go: 'golang-go',
  // Debian's own Python, which another one on the path does not hide.
  '/usr/lib/python3/dist-packages/flask': 'python3-flask',
  '/usr/lib/python3/dist-packages/fastapi': 'python3-fastapi',
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
  isAbsolute(command)
    ? existsSync(command)
    : (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, command)));
