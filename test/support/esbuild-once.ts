import * as esbuild from '../../node_modules/esbuild';
import { oncePerRun } from './once-per-run';

/*
 * Replaces `esbuild` in tests (jest.config.js) and caches bundles: every synthesis creates the same ones, which takes
 * both cores a second in each test file.
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
