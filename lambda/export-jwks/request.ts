/** A signing key of the set: its label in the environments table and its ARN. */
export interface LabelledKey {
  readonly label: string;
  readonly arn: string;
}

/**
 * Reads `Keys: [{ Label, Arn }]` of the custom resource.
 *
 * @throws Error when there is none, or one of them has no label or ARN.
 */
export function readKeys(properties: Readonly<Record<string, unknown>>): readonly LabelledKey[] {
  const keys = properties.Keys;
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('Keys must name at least one signing key.');
  return keys.map((key: { Label?: unknown; Arn?: unknown } | null) => {
    if (typeof key?.Label !== 'string' || typeof key.Arn !== 'string') {
      throw new Error('Each of Keys must have a Label and an Arn.');
    }
    return { label: key.Label, arn: key.Arn };
  });
}
