/*
 * Synthesizes the product's stacks in this process and prints what took how long, in milliseconds. Folder of the assembly:
 * CDK_OUTDIR.
 */
const begin = performance.now();
const spent = { bundling: 0, validation: 0, rules: 0, residency: 0 };

async function main(): Promise<void> {
  // Loaded here, so that loading is measured, and wrapped before lib/functions/bundles.ts takes it.
  const esbuild = require('esbuild');
  const { buildSync } = esbuild;
  const bundler = { ...esbuild, buildSync: timed('bundling', buildSync) };
  const path = require.resolve('esbuild');
  (require.cache[path] as NodeJS.Module).exports = bundler;
  const { CloudFormationValidatePlugin } = await import('aws-cdk-lib');
  const { NagPack } = await import('cdk-nag');
  const { ResidencyPlugin } =
    require('../../../../lib/checks/residency/plugin') as typeof import('../../../../lib/checks/residency/plugin');
  const { createApp } = require('../../../../lib/app') as typeof import('../../../../lib/app');
  for (const [part, plugin] of [
    ['validation', CloudFormationValidatePlugin],
    ['rules', NagPack],
    ['residency', ResidencyPlugin],
  ] as const) {
    plugin.prototype.validate = timed(part, plugin.prototype.validate);
  }
  const loaded = performance.now();
  const app = createApp();
  const made = performance.now();
  app.synth();
  const synthesized = performance.now();

  const { bundling, validation, rules, residency } = spent;
  const parts = {
    loading: loaded - begin,
    bundling,
    constructs: made - loaded - bundling,
    templates: synthesized - made - validation - rules - residency,
    validation,
    rules,
    residency,
  };
  process.stdout.write(`\n${JSON.stringify(parts)}\n`);
}

// biome-ignore lint/suspicious/noExplicitAny: any function is timed
function timed<Work extends (...args: any[]) => any>(part: keyof typeof spent, work: Work): Work {
  return function (this: unknown, ...args: Parameters<Work>) {
    const start = performance.now();
    try {
      return work.apply(this, args);
    } finally {
      spent[part] += performance.now() - start;
    }
  } as Work;
}

void main();
