/** Compiles all TypeScript of the documents in a strict project: part of `npm run typecheck`. */
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { codeUnder } from '../support/documents';
import { withTemporaryFolder } from '../support/temporary-folder';

const snippets = [
  ...codeUnder('docs/integrating.md', 'With IAM'),
  ...codeUnder('docs/tokens.md', 'A deletion'),
  ...codeUnder('docs/events.md', 'Send it'),
  ...codeUnder('docs/receivers.md', 'TypeScript (Node.js)'),
];
assert.equal(snippets.length, 4);
/** Calls the last snippet with the headers of Node.js, Fetch and API Gateway. */
const callers = `
  import { verify } from './3';
  declare const given:
    import('node:http').IncomingHttpHeaders | Headers | import('aws-lambda').APIGatewayProxyEventHeaders;
  export const isOurs: boolean = verify('whsec_', given, '') && verify('whsec_', given, Buffer.from(''));`;

process.exitCode = withTemporaryFolder((cwd) => {
  symlinkSync(join(projectRoot, 'node_modules'), join(cwd, 'node_modules'));
  const files = [...snippets, callers].map((code, index) => {
    writeFileSync(join(cwd, `${index}.ts`), code);
    return `${index}.ts`;
  });
  const options = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noEmit --skipLibCheck';
  const args = [...files, ...options.split(' '), '--module', 'preserve', '--types', 'node'];
  return spawnSync(join(projectRoot, 'node_modules/.bin/tsc'), args, { cwd, stdio: 'inherit' }).status ?? 1;
});
