import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';

export const projectRoot = resolve(__dirname, '../..');

/** A source file: its path from the root of the repository, with slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The TypeScript in these folders of the project. */
export function sourcesIn(...folders: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) => readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({
      path: relative(projectRoot, file).split(sep).join('/'),
      text: readFileSync(file, 'utf8'),
    }));
}

const imports =
  /^(?:import|export)\s+(type\s)?[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\b(?:import|require(?:\.resolve)?)\(\s*['"]([^'"]+)['"]/gm;

export interface Import {
  /** A package as written; a project file by its path without ending. */
  readonly name: string;
  readonly isPackage: boolean;
  /** Imports no code. */
  readonly typesOnly: boolean;
}

export const importsOf = ({ path, text }: SourceFile): readonly Import[] =>
  [...text.matchAll(imports)].map(([, type, from, bare, called]) => {
    const written = from ?? bare ?? called ?? '';
    const isPackage = !written.startsWith('.');
    const name = isPackage ? written : posix.join(posix.dirname(path), written);
    return { name, isPackage, typesOnly: type !== undefined };
  });
