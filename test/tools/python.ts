import { spawnSync } from 'node:child_process';

/** A Python that has a package: the first on the PATH, or Debian's. @throws Error with what to install */
export function python(packageName: string): string {
  const found = ['python3', '/usr/bin/python3'].find(
    (each) => spawnSync(each, ['-c', `import ${packageName}`]).status === 0,
  );
  if (found) return found;
  throw new Error(`No Python has ${packageName}. Install the Debian package python3-${packageName}.`);
}
