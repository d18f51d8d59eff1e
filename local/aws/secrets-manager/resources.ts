import { randomInt } from 'node:crypto';
import { arn, resourceHash } from '../../assembly/manifest';
import { readJson, writeJson } from '../../state/json';
import type { LocalResource, ResourceRequest, ResourceTypes, StackContext } from '../resource';

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

function createSecret({ logicalId, properties }: ResourceRequest, context: StackContext): LocalResource {
  const { stack, folder, services } = context;
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
  context.cleanup.add(services.secrets.put({ arn: secretArn, name: logicalId, value, keyArn: KmsKeyId }));
  return { ref: secretArn, attributes: { Id: secretArn } };
}

export const secretsManagerResources: ResourceTypes = {
  // Generated passwords contain only letters and digits, which no `ExcludeCharacters` of ours excludes.
  'AWS::SecretsManager::Secret': ['Description GenerateSecretString KmsKeyId Tags', createSecret],
  // The same secret, for resources that also depend on the cluster.
  'AWS::SecretsManager::SecretTargetAttachment': [
    'SecretId TargetId TargetType',
    ({ properties }) => ({ ref: properties.SecretId, attributes: {} }),
  ],
};
