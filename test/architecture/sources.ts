import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';

export const projectRoot = resolve(__dirname, '../..');

/** A source file: its path from the root of the repository, with slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** @param path from the root of the repository */
export const readSource = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');

export function sourcesIn(...folders: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `${folder}/${name}`),
    )
    .map((path) => ({ path, text: readSource(path) }));
}

const imports =
  /^(?:import|export)\s+[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\b(?:import|require(?:\.resolve)?)\(\s*['"]([^'"]+)['"]/gm;

export interface Import {
  /** A package as written; a project file by its path without ending. */
  readonly name: string;
  readonly isPackage: boolean;
}

export const importsOf = ({ path, text }: SourceFile): readonly Import[] =>
  [...text.matchAll(imports)].map(([, from, bare, called]) => {
    const written = from ?? bare ?? called ?? '';
    const isPackage = !written.startsWith('.');
    const name = isPackage ? written : posix.join(posix.dirname(path), written);
    return { name, isPackage };
  });
