import { Client, type ClientConfig, DatabaseError } from 'pg';
import type { Postgres } from '../postgres/postgres';
import { ConnectionGone, type Refusal } from '../postgres/startup';
import { type AccessKey, accessKeyIdOfToken, invalidTokenReason } from './token';

interface SignIn {
  readonly user: string;
  readonly database: string;
  readonly password: string;
}

export interface SignInRules {
  readonly postgres: Pick<Postgres, 'host' | 'port' | 'superuser' | 'socketDirectory'>;
  /** The region that sign-in tokens must be for. */
  readonly region: string;
  /** The credentials that a sign-in token with this access key id must be signed with. */
  readonly findAccessKey: (accessKeyId: string) => AccessKey | undefined;
  /** Says why an access key may not sign in as a role. @default - it may */
  readonly authorize?: (accessKeyId: string, user: string) => string | undefined;
  /** @default - the current time */
  readonly clock?: () => Date;
}

/** `reason` is for the log of this machine: the client is not told. */
type SignInRefusal = Refusal & { readonly reason: string };

const hosts = ['localhost', '127.0.0.1'];

/**
 * Checks a sign-in: a member of `rds_iam` needs a token, any other role its password.
 *
 * @param port the endpoint's, which tokens must be for
 * @throws ConnectionGone when PostgreSQL cannot be asked.
 */
export async function checkSignIn(
  signIn: SignIn,
  rules: SignInRules,
  port: number,
): Promise<SignInRefusal | undefined> {
  if (signIn.user === '') return asRefusal('28000', 'no PostgreSQL user name specified in startup packet');
  if (signIn.password === '') return asRefusal('28P01', 'empty password returned by client');
  try {
    if (!(await signsInByToken(signIn.user, rules.postgres)))
      return await checkPassword(signIn, rules.postgres);
  } catch (error) {
    if (error instanceof DatabaseError) return asRefusal(error.code ?? 'XX000', error.message);
    throw new ConnectionGone('PostgreSQL cannot be reached');
  }
  const now = rules.clock?.() ?? new Date();
  const accessKeyId = accessKeyIdOfToken(signIn.password);
  const credentials = rules.findAccessKey(accessKeyId);
  const problem = credentials
    ? (invalidTokenReason(signIn.password, { ...rules, credentials, port, hosts, user: signIn.user, now }) ??
      rules.authorize?.(accessKeyId, signIn.user))
    : 'its access key is unknown';
  if (problem === undefined) return undefined;
  return {
    sqlState: '28000',
    message: `PAM authentication failed for user "${signIn.user}"`,
    reason: `the token of database user '${signIn.user}' is refused: ${problem}`,
  };
}

/**
 * Membership may be indirect. The master user, who may only grant the role to others, is not a member; and unlike
 * `pg_has_role`, this does not count a superuser as a member of every role.
 */
const membership = `
  with recursive held as (
    select oid from pg_roles where rolname = $1
    union
    select roleid from pg_auth_members join held on held.oid = member where inherit_option or set_option
  )
  select from held join pg_roles using (oid) where rolname = 'rds_iam'`;

async function signsInByToken(user: string, postgres: SignInRules['postgres']): Promise<boolean> {
  const administrator = {
    host: postgres.socketDirectory,
    port: postgres.port,
    user: postgres.superuser,
    database: 'postgres',
  };
  return withClient(administrator, async (client) => {
    const { rowCount } = await client.query(membership, [user]);
    return rowCount === 1;
  });
}

async function checkPassword(signIn: SignIn, { host, port }: SignInRules['postgres']): Promise<undefined> {
  await withClient({ ...signIn, host, port }, async () => undefined);
}

async function withClient<T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...config, ssl: false, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  // A connection that is lost later rejects the query under way; without a listener it would also end this process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** In PostgreSQL's own words. */
const asRefusal = (sqlState: string, message: string): SignInRefusal => ({
  sqlState,
  message,
  reason: message,
});
