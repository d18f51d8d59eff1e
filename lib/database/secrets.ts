import type { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { acknowledge } from '../checks/acknowledgements';
import { withStableLogicalId } from '../stable-logical-id';

/**
 * Characters that PostgreSQL's URLs, shells and JSON would have to escape, and those that RDS refuses in the owner's password
 * (`/`, `"`, `@` and space): https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBCluster.html
 */
const excludeCharacters = ' %+~`#$&*()|[]{}:;<>?!\'/@"\\=^,';

export interface DatabaseSecretProps {
  readonly logicalId: string;
  readonly description: string;
  readonly username: string;
  readonly passwordLength: number;
  readonly encryptionKey: IKey;
  readonly removalPolicy: RemovalPolicy;
}

/**
 * The random password of a database user: `{"username","password"}`, as the RDS Data API requires.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.access.html
 */
export function createSecret(scope: Construct, id: string, props: DatabaseSecretProps): ISecret {
  const { logicalId, username, passwordLength, ...settings } = props;
  const secretStringTemplate = JSON.stringify({ username });
  const generateStringKey = 'password';
  const secret = new Secret(scope, id, {
    ...settings,
    generateSecretString: { secretStringTemplate, generateStringKey, passwordLength, excludeCharacters },
  });
  acknowledge(secret, 'databaseSecret');
  // The CDK's class and interface disagree under `exactOptionalPropertyTypes`.
  return withStableLogicalId(secret, logicalId) as ISecret;
}
