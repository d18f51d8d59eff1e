import { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { type DatabaseRole, databaseRoles } from '../../lambda/database/environment';
import { acknowledgeNoRotation } from '../checks/acknowledgements';
import { withStableLogicalId } from '../stable-logical-id';

export type RoleSecrets = { readonly [role in DatabaseRole]?: ISecret };

/**
 * Characters that passwords do without: those that PostgreSQL's URLs, shells and JSON would need to escape, and
 * those that RDS refuses in the owner's password (`/`, `"`, `@` and space).
 * https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBCluster.html
 */
export const excludedCharacters = ' %+~`#$&*()|[]{}:;<>?!\'/@"\\=^,';

/**
 * A secret for each database role: `{"username","password"}`, as the RDS Data API wants it.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.access.html
 */
export function roleSecrets(scope: Construct, encryptionKey: IKey): RoleSecrets {
  return Object.fromEntries(databaseRoles.map((role) => [role, roleSecret(scope, role, encryptionKey)]));
}

function roleSecret(scope: Construct, role: DatabaseRole, encryptionKey: IKey): ISecret {
  const name = role.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const secret = withStableLogicalId(
    new Secret(scope, `${name}Secret`, {
      description: `Password of the database role ${role}`,
      encryptionKey,
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ username: role }),
        generateStringKey: 'password',
        passwordLength: 40,
        excludeCharacters: excludedCharacters,
      },
      removalPolicy: RemovalPolicy.DESTROY,
    }),
    // Short: CloudFormation makes the secret's name of it, and the Data API takes ARNs of at most 100 characters.
    // https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_ExecuteStatement.html
    `Secret${name}`,
  );
  acknowledgeNoRotation(
    secret,
    'It is 40 random characters that one function uses through the RDS Data API, which alone reaches the cluster.',
  );
  // The CDK's class and interface disagree under `exactOptionalPropertyTypes`.
  return secret as ISecret;
}
