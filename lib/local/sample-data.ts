import type { SampleData } from './banner';
import type { Region } from './region';

type Answer =
  | { readonly ok: true; readonly result: Omit<SampleData, 'running'> }
  | { readonly ok: false; readonly error: { readonly message: string } };

/**
 * Makes an organization with a user group that can be deleted, the way the command line's `seed` does.
 *
 * @throws Error with the reason when the operations function fails or refuses
 */
export async function createSampleData(region: Region): Promise<SampleData> {
  const operations = region.functions.find(String(region.outputs.OperationsFunctionName));
  const seed = { operation: 'seed', input: { userGroupName: 'SampleData' } };
  const result = await operations.invoke(seed);
  if (!result.ok) throw notMade(result.errorMessage);
  const answer = result.payload as Answer;
  if (!answer.ok) throw notMade(answer.error.message);
  return { ...answer.result, running: region };
}

const notMade = (reason: string) => new Error(`The group for the demonstration could not be made: ${reason}`);
