import { buildSync } from 'esbuild';
import { bundling } from '../../lib/functions/bundles';

/** The folders of the npm packages in the bundles of these files, relative to the project root. */
export function packageFolders(files: readonly string[]): string[] {
  const { metafile } = buildSync({
    ...bundling,
    entryPoints: [...files],
    outdir: 'bundles',
    write: false,
    metafile: true,
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const folders = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)].sort();
}
