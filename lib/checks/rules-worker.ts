import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { CloudFormationValidatePlugin, type IPolicyValidationContext } from 'aws-cdk-lib';
import { openThread } from '../thread';
import { reviewed } from './residency/reviewed';

const send = openThread();
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
    send(validate(stackTemplates));
  } catch {
    send(undefined);
  }
});
// The code runs for seconds: optimizing it would take longer than it saves, on cores that the app needs.
setFlagsFromString('--liftoff-only');
prepare();
