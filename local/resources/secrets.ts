import { randomInt } from 'node:crypto';
import { readJson, writeJson } from '../state';

/** Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-secretsmanager-secret-generatesecretstring.html */
export interface GenerateSecretString {
  readonly SecretStringTemplate?: string;
  readonly GenerateStringKey?: string;
  readonly PasswordLength?: number | string;
  readonly ExcludeCharacters?: string;
  readonly ExcludePunctuation?: boolean;
}

/**
 * The value of a secret, made once and kept in `file`.
 *
 * @throws StartError if `file` is damaged
 */
export function generateOnce(file: string, logicalId: string, options: GenerateSecretString): string {
  const kept = readJson<Record<string, string>>(file) ?? {};
  const value = kept[logicalId] ?? generate(options);
  if (kept[logicalId] === undefined) writeJson(file, { ...kept, [logicalId]: value });
  return value;
}

const lettersAndDigits = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

function generate(options: GenerateSecretString): string {
  const alphabet = [
    ...(options.ExcludePunctuation ? lettersAndDigits : lettersAndDigits + punctuation),
  ].filter((character) => !options.ExcludeCharacters?.includes(character));
  const length = Number(options.PasswordLength ?? 32);
  const password = Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
  if (!options.GenerateStringKey) return password;
  const template = JSON.parse(options.SecretStringTemplate ?? '{}') as object;
  return JSON.stringify({ ...template, [options.GenerateStringKey]: password });
}
