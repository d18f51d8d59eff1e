/** A `{{resolve:secretsmanager:SECRET:SecretString:KEY:…}}` reference. */
export interface SecretReference {
  /** The reference as written, for errors. */
  readonly text: string;
  /** The secret's name or ARN. */
  readonly secretId: string;
  /** The key in the secret's JSON document; undefined for the whole secret. */
  readonly jsonKey: string | undefined;
}

/**
 * Replaces dynamic references in every text of a value.
 *
 * Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html
 */
export function resolveDynamicReferences(
  value: unknown,
  secret: (reference: SecretReference) => string,
): unknown {
  if (typeof value === 'string') {
    return value.replace(/\{\{resolve:secretsmanager:([^}]*)\}\}/g, (text, rest: string) =>
      secret(parse(text, rest)),
    );
  }
  if (Array.isArray(value)) return value.map((item) => resolveDynamicReferences(item, secret));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, resolveDynamicReferences(item, secret)]),
  );
}

/** An ARN has seven parts between colons, which are also the reference's separators. */
function parse(text: string, rest: string): SecretReference {
  const parts = rest.split(':');
  const idParts = parts[0] === 'arn' ? 7 : 1;
  return {
    text,
    secretId: parts.slice(0, idParts).join(':'),
    jsonKey: parts[idParts + 1] || undefined,
  };
}
