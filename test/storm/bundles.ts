import { buildSync } from 'esbuild';
import { bundling } from '../../lib/functions/bundles';

/** Bundles what runs in processes of its own into `directory`: one folder each, with an `index.js`. */
export function bundleProcesses(directory: string): void {
  buildSync({
    ...bundling,
    entryPoints: {
      'deliver-webhook/index': 'test/storm/functions/deliver-webhook.ts',
      'fan-out-event/index': 'lambda/fan-out-event/handler.ts',
      'receivers/index': 'test/storm/receivers/process.ts',
    },
    outdir: directory,
  });
}
