import type { Cleanup } from '../../../local/cleanup';
import { type LocalFunction, type LocalFunctionOptions, startFunction } from '../../../local/lambda/function';
import { region } from './region';

type Given = 'bundleDirectory' | 'environment' | 'timeoutSeconds';

/** Starts a function from a bundle; `cleanup` ends its processes. */
export function startBundle(
  cleanup: Cleanup,
  options: Pick<LocalFunctionOptions, Given> & Partial<LocalFunctionOptions>,
): LocalFunction {
  const local = startFunction({
    name: 'run',
    handler: 'index.handler',
    memoryMiB: 512,
    onLog: () => undefined,
    ...options,
    region,
  });
  cleanup.add(() => local.stop());
  return local;
}
