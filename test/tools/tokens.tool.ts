import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { deletion, send } from '../support/api';
import { codeUnder } from '../support/documents';
import { localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { running } from '../support/rows';
import { documentedClaims } from '../support/tokens';
import { python } from './program';

it('tokens of the Python in tokens.md delete a group', async () => {
  const { name, tokenIssuer, region } = running[0];
  const local = await localEnvironment();
  const organization = await local.walletJson<Organization>(name, 'seed');
  const claims = documentedClaims(tokenIssuer, organization);
  const { ApiBaseUrl = '', TokenSigningKeyArn, UserActionSigningKeyArn } = local.outputs(name);
  const sign = async (keyId: string | undefined, typ: string, own: object) => {
    const main = `
import boto3, sys
url, region, *arguments, claims = sys.argv[1:]
kms = boto3.client("kms", region, endpoint_url=url, aws_access_key_id="local", aws_secret_access_key="local")
print(sign_jwt(kms, *arguments, json.loads(claims)))`;
    const code = (codeUnder('docs/tokens.md', 'Python')[0] ?? '') + main;
    const args = ['-c', code, local.endpoints.kms ?? '', region, keyId ?? '', typ, JSON.stringify(own)];
    const { stdout } = await promisify(execFile)(python('boto3'), args, { timeout: 60_000 });
    return stdout.trim();
  };
  const accessToken = await sign(TokenSigningKeyArn, 'JWT', claims.accessToken);
  const userAction = await sign(UserActionSigningKeyArn, 'user-action+jwt', claims.userAction);
  const answer = await send(ApiBaseUrl, deletion(organization, accessToken, userAction));
  expect(answer).toMatchObject({ status: 200, text: '{}' });
});
