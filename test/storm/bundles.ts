import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';

/** Bundles what runs in processes of its own into `directory`: one folder each, with an `index.js`. */
export function bundleProcesses(directory: string): void {
  buildSync({
    absWorkingDir: resolve(__dirname, '../..'),
    entryPoints: {
      'deliver-webhook/index': 'test/storm/functions/deliver-webhook.ts',
      'fan-out-event/index': 'lambda/fan-out-event/handler.ts',
      'receivers/index': 'test/storm/receivers/process.ts',
    },
    outdir: join(directory),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    mainFields: ['module', 'main'],
    external: ['pg-native'],
    logLevel: 'silent',
  });
}
