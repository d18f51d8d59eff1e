import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../local/assembly/synthesis';
import { temporaryFolder } from '../support/temporary-folder';

/** In a process as `cdk synth` starts it: prints a report for each template. */
const program = `
  const thread = require('./lib/thread').startThread('./lib/checks/rules-worker.ts');
  for (const templatePath of process.argv.slice(1)) {
    thread.post([{ templatePath, region: 'eu-central-1' }]);
    console.log(JSON.stringify(thread.next() ?? 'failed'));
  }
`;

const temporary = temporaryFolder();

it("another thread finds what violates CloudFormation's rules, and says nothing of what it could not read", () => {
  const invalid = join(temporary(), 'invalid.json');
  const Queue = { Type: 'AWS::SQS::Queue', Properties: { DelaySeconds: 901 } };
  writeFileSync(invalid, JSON.stringify({ Resources: { Queue } }));
  const args = ['--require', './bin/tsx.cjs', '--eval', program, join(temporary(), 'missing.json'), invalid];
  const reports = execFileSync(process.execPath, args, { cwd: projectRoot, encoding: 'utf8' }).split('\n');
  expect(reports[0]).toBe('"failed"');
  expect(JSON.parse(reports[1] ?? '')).toMatchObject({
    success: false,
    violations: [expect.objectContaining({ description: expect.stringContaining('DelaySeconds') })],
  });
});
