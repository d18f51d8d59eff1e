import { createHash } from 'node:crypto';
import type { LoopbackServer } from '../network/loopback-server';
import { type Authorize, allowEverything } from '../permissions/permissions';
import { AwsError, type JsonObject, requireAllowed, requiredText, startAwsJsonServer } from './aws-json';

export interface SecretsManager extends LoopbackServer {
  /** Adds a secret, or gives it another value. */
  put(secret: {
    readonly arn: string;
    readonly name: string;
    readonly value: string;
    /** ARN of the key that encrypts it. @default - the key of Secrets Manager, which every caller may use */
    readonly keyArn?: string;
  }): void;
  /** Why a caller may not read a secret: the secret itself, or its key, is refused. */
  readonly authorizeRead: (accessKeyId: string, secretArn: string) => string | undefined;
}

/** As GetSecretValue answers; dates are seconds since 1970. */
interface StoredSecret {
  readonly ARN: string;
  readonly Name: string;
  readonly SecretString: string;
  readonly VersionId: string;
  readonly VersionStages: readonly [typeof currentStage];
  readonly CreatedDate: number;
}

const currentStage = 'AWSCURRENT';

/**
 * A small Secrets Manager for the real SDK: GetSecretValue and DescribeSecret. A secret has one version, AWSCURRENT,
 * and is known by its ARN, with or without the six characters at the end, or by its name.
 * https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
 */
export async function startSecretsManager(authorize: Authorize = allowEverything): Promise<SecretsManager> {
  const secrets = new Map<string, StoredSecret>();
  const keys = new Map<string, string>();

  function authorizeRead(accessKeyId: string, secretArn: string): string | undefined {
    const keyArn = keys.get(secretArn);
    const refusal = authorize({ accessKeyId, action: 'secretsmanager:GetSecretValue', resource: secretArn });
    if (refusal !== undefined || keyArn === undefined) return refusal;
    // https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
    const context = {
      'kms:viaservice': `secretsmanager.${secretArn.split(':')[3]}.amazonaws.com`,
      'kms:encryptioncontext:secretarn': secretArn,
    };
    return authorize({ accessKeyId, action: 'kms:Decrypt', resource: keyArn, context });
  }

  function find(input: JsonObject): StoredSecret {
    const id = requiredText(input, 'SecretId');
    const secret = [...secrets.values()].find(({ ARN, Name }) =>
      [ARN, Name, ARN.replace(/-[^-]{6}$/, '')].includes(id),
    );
    if (!secret) throw notFound("Secrets Manager can't find the specified secret.");
    return secret;
  }

  const server = await startAwsJsonServer({
    targetPrefix: 'secretsmanager',
    operations: {
      GetSecretValue: (input, accessKeyId) => {
        const secret = find(input);
        requireAllowed(authorizeRead(accessKeyId, secret.ARN));
        const { VersionStage: stage = currentStage, VersionId: version = secret.VersionId } = input;
        if (stage !== currentStage) {
          throw notFound(`Secrets Manager can't find the specified secret value for staging label: ${stage}`);
        }
        if (version !== secret.VersionId) {
          throw notFound(`Secrets Manager can't find the specified secret value for VersionId: ${version}`);
        }
        return { ...secret };
      },
      DescribeSecret: (input, accessKeyId) => {
        const { SecretString: _, VersionId, VersionStages, ...rest } = find(input);
        const action = 'secretsmanager:DescribeSecret';
        requireAllowed(authorize({ accessKeyId, action, resource: rest.ARN }));
        return {
          ...rest,
          LastChangedDate: rest.CreatedDate,
          VersionIdsToStages: { [VersionId]: VersionStages },
        };
      },
    },
  });

  return {
    ...server,
    authorizeRead,
    put({ arn, name, value, keyArn }) {
      if (keyArn !== undefined) keys.set(arn, keyArn);
      secrets.set(arn, {
        ARN: arn,
        Name: name,
        SecretString: value,
        VersionId: versionOf(arn, value),
        VersionStages: [currentStage],
        CreatedDate: Math.floor(Date.now() / 1_000),
      });
    },
  };
}

function notFound(message: string): AwsError {
  return new AwsError('ResourceNotFoundException', message);
}

/** Stays the same as long as the value does. */
function versionOf(arn: string, value: string): string {
  const hex = createHash('sha256').update(`${arn}\n${value}`).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
