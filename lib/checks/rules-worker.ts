import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { CloudFormationValidatePlugin, type IPolicyValidationContext } from 'aws-cdk-lib';
import { reviewed } from './residency/reviewed';
import { ended, type RulesWorkerData } from './rules-thread';

const { port, answered } = workerData as RulesWorkerData;
const plugin = new CloudFormationValidatePlugin();
const validate = (stackTemplates: readonly unknown[]) =>
  plugin.validate({ stackTemplates } as unknown as IPolicyValidationContext);

/** Without rules about what our stacks do not contain: the engine is kept for templates with none but these types. */
function prepare(): void {
  const folder = mkdtempSync(join(tmpdir(), 'wallet-rules-'));
  try {
    const templatePath = join(folder, 'types.json');
    const types = new Set(reviewed.map((each) => each.replace(/\..*/, '')));
    const resources = Array.from(types, (Type, index) => [`Resource${index}`, { Type }]);
    writeFileSync(templatePath, JSON.stringify({ Resources: Object.fromEntries(resources) }));
    validate([{ templatePath }]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

parentPort?.on('message', (stackTemplates) => {
  try {
    port.postMessage(validate(stackTemplates));
  } catch {
    // The other thread validates by itself, and meets the same error.
  } finally {
    Atomics.add(answered, 0, 1);
    Atomics.notify(answered, 0);
  }
});
process.once('exit', () => {
  Atomics.store(answered, 0, ended);
  Atomics.notify(answered, 0);
});
// The code runs for seconds: optimizing it would take longer than it saves, on cores that the app needs.
setFlagsFromString('--liftoff-only');
prepare();
