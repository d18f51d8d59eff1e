import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { codeUnder } from '../support/documents';
import { first, withDirectAccess } from '../support/rows';
import { stackOf } from '../support/stacks';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

const snippets = [
  ...codeUnder('docs/integrating.md', 'With IAM'),
  ...codeUnder('docs/tokens.md', 'A deletion'),
  ...codeUnder('docs/events.md', 'Send it'),
  ...codeUnder('docs/receivers.md', 'TypeScript (Node.js)'),
];
/** Calls the last snippet with the headers of Node.js, Fetch and API Gateway. */
const callers = `
  import { verify } from './3';
  declare const given:
    import('node:http').IncomingHttpHeaders | Headers | import('aws-lambda').APIGatewayProxyEventHeaders;
  export const isOurs: boolean = verify('whsec_', given, '') && verify('whsec_', given, Buffer.from(''));`;

it('all TypeScript of the pages compiles in a strict project', () => {
  expect(snippets).toHaveLength(4);
  symlinkSync(join(projectRoot, 'node_modules'), join(folder(), 'node_modules'));
  const files = [...snippets, callers].map((code, index) => {
    writeFileSync(join(folder(), `${index}.ts`), code);
    return `${index}.ts`;
  });
  const options = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noEmit --skipLibCheck';
  const args = [...files, ...options.split(' '), '--module', 'preserve', '--types', 'node'];
  const tsc = join(projectRoot, 'node_modules/.bin/tsc');
  const { stdout, status } = spawnSync(tsc, args, { cwd: folder(), encoding: 'utf8' });
  expect([stdout, status]).toEqual(['', 0]);
});

it('operating.md has the limits of webhooks, firewall and throttle as they are', () => {
  const rows = readFileSync(join(projectRoot, 'docs/operating.md'), 'utf8').matchAll(
    /^\| (.*) \| (.*) \| .* \|$/gm,
  );
  const limits = new Map(Array.from(rows, ([, limit = '', value = '']) => [limit, value]));
  const migration = readFileSync(
    join(projectRoot, 'lambda/database/migrations/0002-webhook-limit-and-events.sql'),
  );
  const webhooks = limits.get('enabled webhooks of an organization');
  expect(String(migration)).toContain(`>= ${webhooks} then`);
  const rules = stackOf(withDirectAccess).only('AWS::WAFv2::WebACL').Properties.Rules;
  const rate = rules.find(({ Name }: { Name: string }) => Name === 'RequestsPerAddress').Statement
    .RateBasedStatement;
  expect(limits.get('requests from one address in five minutes, to API and dashboard')).toBe(
    `${rate.Limit.toLocaleString('en')}, then 403 \`request_blocked\``,
  );
  const { requestsPerSecond, burst } = first.throttle;
  expect(limits.get('requests a second to the API; burst')).toContain(`${requestsPerSecond}; ${burst}`);
});
