import { randomBytes } from 'node:crypto';
import { LOCAL_ACCOUNT_ID } from '../../assembly/manifest';
import { AwsError, requireAllowed, requiredText, serveOperations } from '../aws-server';
import { type Authorize, allowEverything } from '../iam/permissions';

export interface Secret {
  readonly arn: string;
  readonly name: string;
  readonly value: string;
  /** ARN of the key that encrypts it. @default - the AWS managed key, which every caller may use */
  readonly keyArn?: string | undefined;
}

export type SecretsManager = ReturnType<typeof createSecretsManager>;

/** A minimal Secrets Manager: GetSecretValue by name or ARN, CreateSecret in memory; one version per secret. */
export function createSecretsManager(authorize: Authorize = allowEverything) {
  const secrets = new Map<string, Secret>();

  /** The reason to deny a caller a secret or its key. */
  function authorizeRead(accessKeyId: string, secretArn: string): string | undefined {
    const refusal = authorize({ accessKeyId, action: 'secretsmanager:GetSecretValue', resource: secretArn });
    const keyArn = secrets.get(secretArn)?.keyArn;
    if (refusal !== undefined || keyArn === undefined) return refusal;
    // https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
    const context = {
      'kms:viaservice': `secretsmanager.${secretArn.split(':')[3]}.amazonaws.com`,
      'kms:encryptioncontext:secretarn': secretArn,
    };
    return authorize({ accessKeyId, action: 'kms:Decrypt', resource: keyArn, context });
  }

  return {
    serve: serveOperations({
      GetSecretValue(input, accessKeyId) {
        if (input.VersionId !== undefined || input.VersionStage !== undefined) {
          throw new AwsError('ValidationException', 'Versions of secrets are not supported');
        }
        const id = requiredText(input, 'SecretId');
        const found = [...secrets.values()].find(({ arn, name }) => arn === id || name === id);
        if (!found) {
          throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
        }
        requireAllowed(authorizeRead(accessKeyId, found.arn));
        return { ARN: found.arn, Name: found.name, SecretString: found.value };
      },
      /** Services beside the stacks use it: they sign in to the database as roles of their own. */
      CreateSecret(input, accessKeyId) {
        const [name, value] = [requiredText(input, 'Name'), requiredText(input, 'SecretString')];
        const prefix = `arn:aws:secretsmanager:local:${LOCAL_ACCOUNT_ID}:secret:${name}-`;
        requireAllowed(authorize({ accessKeyId, action: 'secretsmanager:CreateSecret', resource: prefix }));
        if ([...secrets.values()].some((each) => each.name === name)) {
          throw new AwsError('ResourceExistsException', `A secret with the name ${name} already exists.`);
        }
        const arn = `${prefix}${randomBytes(3).toString('hex')}`;
        secrets.set(arn, { arn, name, value });
        return { ARN: arn, Name: name };
      },
    }),
    authorizeRead,
    /** Undefined if the secret does not exist. */
    valueOf: (secretArn: string) => secrets.get(secretArn)?.value,
    /** Creates or updates a secret. @returns a function that removes it */
    put(secret: Secret): () => void {
      secrets.set(secret.arn, secret);
      return () => secrets.delete(secret.arn);
    },
  };
}
