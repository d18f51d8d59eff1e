import { randomInt } from 'node:crypto';
import type { SecretReference } from '../assembly/dynamic-references';
import type { SecretsManager } from '../services/secrets-manager';
import { readJson, writeJson } from '../state';
import type { Provision } from './deployment';
import { arn, resourceHash, type StackIdentity } from './names';

export interface Secrets {
  readonly provision: Provision;
  /** `AWS::SecretsManager::SecretTargetAttachment`: the secret itself, once it is attached. */
  readonly provisionAttachment: Provision;
  /** The value of a dynamic reference; undefined when there is no such secret or key. */
  resolve(reference: SecretReference): string | undefined;
  /** The value of a secret, by ARN; undefined when there is none. */
  value(secretArn: string): string | undefined;
}

/** Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-secretsmanager-secret-generatesecretstring.html */
interface GenerateSecretString {
  readonly SecretStringTemplate?: string;
  readonly GenerateStringKey?: string;
  readonly PasswordLength?: number | string;
  readonly ExcludeCharacters?: string;
  readonly ExcludePunctuation?: boolean;
}

/**
 * The secrets of one environment. A generated value is made once and kept in `file`.
 *
 * @throws Error, when made, if `file` is damaged
 */
export function openSecrets(stack: StackIdentity, file: string, store: Pick<SecretsManager, 'put'>): Secrets {
  const kept = readJson<Record<string, string>>(file) ?? {};
  const values = new Map<string, string>();

  function generateOnce(logicalId: string, options: GenerateSecretString): string {
    const known = kept[logicalId];
    if (known !== undefined) return known;
    const value = generate(options);
    kept[logicalId] = value;
    writeJson(file, kept);
    return value;
  }

  return {
    async provision({ logicalId, properties }) {
      const { Name, KmsKeyId, SecretString, GenerateSecretString } = properties as {
        Name?: string;
        /** ARN. */
        KmsKeyId?: string;
        SecretString?: string;
        GenerateSecretString?: GenerateSecretString;
      };
      // Without the stack's name, as CloudFormation does: the Data API takes ARNs of at most 100 characters.
      const name = Name ?? logicalId;
      const suffix = resourceHash(stack, logicalId).slice(0, 6);
      const secretArn = arn(stack, 'secretsmanager', `secret:${name}-${suffix}`);
      const value = SecretString ?? generateOnce(logicalId, GenerateSecretString ?? {});
      values.set(secretArn, value).set(name, value);
      store.put({ arn: secretArn, name, value, ...(KmsKeyId !== undefined && { keyArn: KmsKeyId }) });
      return { ref: secretArn, attributes: { Id: secretArn } };
    },
    async provisionAttachment({ properties }) {
      const SecretId = String(properties.SecretId);
      return { ref: SecretId, attributes: { Id: SecretId } };
    },
    resolve({ secretId, jsonKey }) {
      const value = values.get(secretId);
      if (value === undefined || jsonKey === undefined) return value;
      return (JSON.parse(value) as Record<string, string>)[jsonKey];
    },
    value: (secretArn) => values.get(secretArn),
  };
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
