import { DataApiError } from './errors';
import { plainValue } from './fields';
import { toJson } from './json';
import type { Limits } from './limits';
import type { ResultSet } from './statements';

/**
 * The result as one JSON text, keyed by the columns' labels.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-json.html
 */
export function formatRecords({ labels, records }: ResultSet, limits: Limits): string {
  if (new Set(labels).size < labels.length) {
    throw new DataApiError(
      'BadRequestException',
      'The result contains more than one column of the same name',
    );
  }
  // As objects, columns with labels such as "2" would come first.
  const keys = labels.map((label) => JSON.stringify(label));
  const objects = records.map((record) => {
    const members = record.map((field, index) => `${keys[index]}:${toJson(plainValue(field))}`);
    return `{${members.join(',')}}`;
  });
  const text = `[${objects.join(',')}]`;
  if (Buffer.byteLength(text) > limits.formattedBytes) {
    throw new DataApiError('BadRequestException', 'The JSON response exceeds the size limit 10 MB');
  }
  return text;
}
