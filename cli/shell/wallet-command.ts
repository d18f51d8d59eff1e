import { resolve } from 'node:path';
import { shellWord } from '../../domain/shell';
import { environments } from '../../lib/environments';

export interface EnvironmentOptions {
  readonly environment: string;
  readonly outputs: string;
}

/** Where `npm start` writes the outputs of this machine's environments, whatever folder a command runs in. */
export const localOutputs = resolve(__dirname, '../../.local/outputs.json');

/** In the project's folder. It names a deployed environment, because the default changes with the table. */
export function walletCommand(command: string, { environment, outputs }: EnvironmentOptions): string {
  const file = resolve(outputs);
  const isLocal = file === localOutputs;
  const name = isLocal && environment === environments[0]?.name ? '' : ` --environment ${environment}`;
  return `./wallet ${command}${name}${isLocal ? '' : ` --outputs ${shellWord(file)}`}`;
}
