import * as esbuild from '../../node_modules/esbuild';
import { oncePerRun } from './once-per-run';

/*
 * What the tests get for `esbuild` (jest.config.js). Every synthesis begins with the same bundles of the same sources: a
 * second of both cores for each test file that synthesizes.
 */
module.exports = {
  ...esbuild,
  buildSync(options: esbuild.BuildOptions): esbuild.BuildResult {
    const { absWorkingDir, write, metafile, stdin } = options;
    // The product's own builds: of its sources, into memory.
    const ofTheProduct = absWorkingDir !== undefined && write === false && !metafile && !stdin;
    return ofTheProduct ? buildOnce(options) : esbuild.buildSync(options);
  },
};

function buildOnce(options: esbuild.BuildOptions): esbuild.BuildResult {
  const made = oncePerRun(`bundles of ${JSON.stringify(options)}`, () => {
    const { outputFiles = [], ...result } = esbuild.buildSync(options);
    const files = outputFiles.map(({ path, hash, text }) => ({ path, hash, text }));
    return JSON.stringify({ ...result, outputFiles: files });
  });
  const { outputFiles, ...result } = JSON.parse(made) as esbuild.BuildResult<{ write: false }>;
  return {
    ...result,
    outputFiles: outputFiles.map((file) => ({ ...file, contents: Buffer.from(file.text) })),
  };
}
