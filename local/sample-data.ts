import type { SampleData } from './banner';
import type { Region } from './region';

interface Answer {
  readonly result?: Omit<SampleData, 'running'>;
  readonly error?: { readonly message: string };
}

/**
 * Makes an organization with a user group to delete, as the command line's `seed` does.
 *
 * @throws Error with the reason when the operations function fails or refuses
 */
export async function createSampleData(region: Region): Promise<SampleData> {
  const operations = region.functions.find(String(region.outputs.OperationsFunctionName));
  const seed = { operation: 'seed', input: { userGroupName: 'SampleData' } };
  const invoked = await operations.invoke(seed);
  const answer = invoked.ok ? (invoked.payload as Answer) : { error: { message: invoked.errorMessage } };
  if ('result' in answer && answer.result) return { ...answer.result, running: region };
  throw new Error(`The sample user group could not be made: ${answer.error?.message}`);
}
