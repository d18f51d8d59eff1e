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
  const objects = records.map((record) =>
    Object.fromEntries(record.map((field, index) => [labels[index], plainValue(field)])),
  );
  const text = toJson(objects);
  if (Buffer.byteLength(text) > limits.formattedBytes) {
    throw new DataApiError('BadRequestException', 'The JSON response exceeds the size limit 10 MB');
  }
  return text;
}
