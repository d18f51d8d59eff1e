import { randomInt } from 'node:crypto';
import { arn, resourceHash } from '../../assembly/manifest';
import type { Cleanup } from '../../shared/cleanup';
import { readJson, writeJson } from '../../state/json';
import type { EnvironmentFolder } from '../../state/paths';
import type { LocalResource, ResourceRequest, ResourceTypes, StackParts } from '../resource';
import type { SecretsManager } from './secrets-manager';

export interface SecretNeeds extends StackParts {
  readonly folder: Pick<EnvironmentFolder, 'secretsFile'>;
  readonly secrets: Pick<SecretsManager, 'put'>;
  readonly cleanup: Cleanup;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

function createSecret({ logicalId, properties }: ResourceRequest, needs: SecretNeeds): LocalResource {
  const { stack, folder, secrets, cleanup } = needs;
  const { KmsKeyId, GenerateSecretString } = properties;
  const { SecretStringTemplate, GenerateStringKey, PasswordLength = 32 } = GenerateSecretString;
  const stored = readJson<Record<string, string>>(folder.secretsFile) ?? {};
  let value = stored[logicalId];
  if (value === undefined) {
    const letters = Array.from({ length: PasswordLength }, () => alphabet[randomInt(alphabet.length)]);
    value = JSON.stringify({
      ...JSON.parse(SecretStringTemplate),
      [GenerateStringKey]: letters.join(''),
    });
    writeJson(folder.secretsFile, { ...stored, [logicalId]: value });
  }
  // Omits the stack's name, as CloudFormation does: the Data API limits ARNs to 100 characters.
  const id = `secret:${logicalId}-${resourceHash(stack, logicalId).slice(0, 6)}`;
  const secretArn = arn(stack, 'secretsmanager', id);
  cleanup.add(secrets.put({ arn: secretArn, name: logicalId, value, keyArn: KmsKeyId }));
  return { ref: secretArn, attributes: { Id: secretArn } };
}

export const secretsManagerResources: ResourceTypes<SecretNeeds> = {
  // Generated passwords contain only letters and digits, which no `ExcludeCharacters` of ours excludes.
  'AWS::SecretsManager::Secret': ['Description GenerateSecretString KmsKeyId Tags', createSecret],
  // The same secret, for resources that also depend on the cluster.
  'AWS::SecretsManager::SecretTargetAttachment': [
    'SecretId TargetId TargetType',
    ({ properties }) => ({ ref: properties.SecretId, attributes: {} }),
  ],
};
