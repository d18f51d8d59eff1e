import { createHash } from 'node:crypto';
import type { LoopbackServer } from '../network/loopback-server';
import { AwsError, type JsonObject, requiredText, startAwsJsonServer } from './aws-json';

export interface SecretsManager extends LoopbackServer {
  /** Adds a secret, or gives it another value. */
  put(secret: { readonly arn: string; readonly name: string; readonly value: string }): void;
}

interface StoredSecret {
  readonly arn: string;
  readonly name: string;
  readonly value: string;
  readonly versionId: string;
  /** Seconds since 1970. */
  readonly created: number;
}

/**
 * A small Secrets Manager for the real SDK: GetSecretValue and DescribeSecret. A secret has one version, AWSCURRENT,
 * and is known by its ARN, with or without the six characters at the end, or by its name.
 * https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
 */
export async function startSecretsManager(): Promise<SecretsManager> {
  const secrets = new Map<string, StoredSecret>();

  function find(input: JsonObject): StoredSecret {
    const id = requiredText(input, 'SecretId');
    const secret = [...secrets.values()].find(
      ({ arn, name }) => arn === id || name === id || arn.replace(/-[^-]{6}$/, '') === id,
    );
    if (!secret) throw notFound("Secrets Manager can't find the specified secret.");
    return secret;
  }

  const server = await startAwsJsonServer({
    targetPrefix: 'secretsmanager',
    operations: {
      GetSecretValue: (input) => {
        const { arn, name, value, versionId, created } = find(input);
        const { VersionStage: stage = 'AWSCURRENT', VersionId: version = versionId } = input;
        if (stage !== 'AWSCURRENT') {
          throw notFound(`Secrets Manager can't find the specified secret value for staging label: ${stage}`);
        }
        if (version !== versionId) {
          throw notFound(`Secrets Manager can't find the specified secret value for VersionId: ${version}`);
        }
        return {
          ARN: arn,
          Name: name,
          SecretString: value,
          VersionId: versionId,
          VersionStages: ['AWSCURRENT'],
          CreatedDate: created,
        };
      },
      DescribeSecret: (input) => {
        const { arn, name, versionId, created } = find(input);
        return {
          ARN: arn,
          Name: name,
          CreatedDate: created,
          LastChangedDate: created,
          VersionIdsToStages: { [versionId]: ['AWSCURRENT'] },
        };
      },
    },
  });

  return {
    ...server,
    put: ({ arn, name, value }) => {
      const created = Math.floor(Date.now() / 1_000);
      secrets.set(arn, { arn, name, value, versionId: versionOf(arn, value), created });
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
