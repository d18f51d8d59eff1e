import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import type { SourceFile } from './rules';

export const projectRoot = resolve(__dirname, '../..');

/** The programs in these folders of the project. */
export function sourcesIn(...folders: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) => readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(ts|js|cjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({
      path: relative(projectRoot, file).split(sep).join('/'),
      text: readFileSync(file, 'utf8'),
    }));
}
