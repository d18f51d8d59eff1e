import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from 'aws-cdk-lib';
import { transformSync } from 'esbuild';
import * as application from '../../lib/environments-app';
import { projectRoot } from '../architecture/sources';
import { codeUnder } from '../support/documents';
import { withDirectAccess } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
/** One environment, without the rule pack and CloudFormation's rules, which take most of a synthesis. */
const quick = { environments: [withDirectAccess], validateTemplates: false };
const app = {
  ...application,
  createApp: (options: object) => application.createApp({ ...quick, ...options }),
  newApp: () => application.newApp(undefined, { builtinCloudFormationValidation: false }),
  addEnvironments: (scope: Stage) => application.addEnvironments(scope, quick),
};
function load(name: string): object {
  const isApp = name.startsWith('.') && join('bin', name) === 'lib/environments-app';
  return isApp ? app : require(require.resolve(name, { paths: [projectRoot] }));
}

const expected = [
  [
    /"Layers":\["arn:aws:lambda:[\w-]+:111122223333:layer:telemetry:7"\]/,
    /"RetentionInDays":365,.*"Key":"environment"|"Key":"environment".*"RetentionInDays":365/,
  ],
  [/assembly-Production/],
];

it.each(codeUnder('docs/deploying.md', 'Build on it').map((code, index) => [code, expected[index]] as const))(
  'synthesizes as documented: %s',
  (code, patterns = [/^$/]) => {
    const { CDK_OUTDIR } = process.env;
    process.env.CDK_OUTDIR = folder();
    new Function('require', transformSync(code, { loader: 'ts', format: 'cjs' }).code)(load);
    if (CDK_OUTDIR === undefined) delete process.env.CDK_OUTDIR;
    else process.env.CDK_OUTDIR = CDK_OUTDIR;
    const files = readdirSync(folder()).filter((file) => /(template|^manifest)\.json$/.test(file));
    const texts = files.map((file) => JSON.stringify(JSON.parse(readFileSync(join(folder(), file), 'utf8'))));
    expect(patterns.filter((pattern) => !pattern.test(texts.join('\n')))).toEqual([]);
  },
);
