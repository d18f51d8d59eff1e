import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes stack outputs into a folder as `npm start` and `cdk deploy --outputs-file` do.
 *
 * @param endpoints of the services of this machine. @default - none: the stacks are deployed to AWS
 * @returns the outputs file
 */
export function writeOutputs(
  folder: string,
  outputs: object | string,
  endpoints?: Readonly<Record<string, string>>,
): string {
  const file = join(folder, 'outputs.json');
  writeFileSync(file, typeof outputs === 'string' ? outputs : JSON.stringify(outputs));
  if (endpoints) writeFileSync(join(folder, 'endpoints.json'), JSON.stringify(endpoints));
  return file;
}
