import type { Demonstration } from './banner';
import type { Region } from './region';

/**
 * Makes an organization with a user group that can be deleted, the way the command line's `seed` does.
 *
 * @throws Error with the reason when the operations function refuses
 */
export async function seedDemonstration({ functions, outputs }: Region): Promise<Demonstration> {
  const operations = functions.find(String(outputs.OperationsFunctionName));
  const result = await operations.invoke({ operation: 'seed', input: { userGroupName: 'Demonstration' } });
  if (!result.ok) throw new Error(`The demonstration group could not be made: ${result.errorMessage}`);
  const answer = result.payload as
    | { ok: true; result: Demonstration }
    | { ok: false; error: { message: string } };
  if (!answer.ok) throw new Error(`The demonstration group could not be made: ${answer.error.message}`);
  return answer.result;
}
