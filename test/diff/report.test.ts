import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder';
import { formatReport, type Side } from './report';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

const folder = temporaryFolder();

/** Writes an assembly of stacks, as the CDK does, in what the report reads of it. */
function side(name: string, stacks: Readonly<Record<string, Json>>, manifest: Json = {}): Side {
  const sources = join(folder(), name);
  const assembly = join(folder(), `${name}.out`);
  mkdirSync(assembly);
  mkdirSync(join(sources, 'lambda/database/migrations'), { recursive: true });
  const artifacts = Object.entries(stacks).map(([stack, Resources]) => {
    writeFileSync(join(assembly, `${stack}.template.json`), JSON.stringify({ Resources }));
    const { environment = 'aws://1/eu-central-1', terminationProtection = true } = manifest;
    const properties = { templateFile: `${stack}.template.json`, terminationProtection };
    return [stack, { type: 'aws:cloudformation:stack', environment, properties }] as [string, Json];
  });
  // What is no stack, and a template that the manifest does not list.
  artifacts.push(['WalletEu.assets', { type: 'cdk:asset-manifest', properties: {} }]);
  writeFileSync(join(assembly, 'Gone.template.json'), '{}');
  const text = JSON.stringify({ artifacts: Object.fromEntries(artifacts) });
  writeFileSync(join(assembly, 'manifest.json'), text);
  return { sources, assembly };
}

const hash = (digit: string) => digit.repeat(64);
const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
const resources = {
  Cluster: { Type: 'AWS::RDS::DBCluster', ...kept, Properties: { DatabaseName: 'wallet', Port: 5432 } },
  Address: { Type: 'AWS::EC2::EIP', ...kept, Properties: { Domain: 'vpc' } },
  Queue: { Type: 'AWS::SQS::Queue', ...kept, Properties: { VisibilityTimeout: 30 } },
  Password: { Type: 'AWS::SecretsManager::Secret', DeletionPolicy: 'Delete', Properties: { Name: 'a' } },
  Handler: { Type: 'AWS::Lambda::Function', Properties: { Code: { S3Key: `${hash('a')}.zip` } } },
};

/** The report on a change of the resources of one stack. */
function reportOn(change: (resources: Json) => unknown, manifest?: Json): string {
  const changed = structuredClone(resources);
  change(changed);
  return formatReport(side('base', { WalletEu: resources }), side('change', { WalletEu: changed }, manifest));
}

it('says so when nothing changes', () => {
  expect(reportOn(() => {})).toBe('## What this change does to the stacks\n\nNo stack changes.\n');
});

it.each<[string, (resources: Json) => unknown, string]>([
  [
    'replaced',
    (all) => Object.assign(all.Cluster.Properties, { DatabaseName: 'purse', Port: 5433 }),
    '`Cluster` (AWS::RDS::DBCluster) would be replaced: DatabaseName was "wallet" and is "purse". Without `database.restoreFrom`',
  ],
  [
    'replaced, perhaps: its documentation says more than the library',
    (all) => Object.assign(all.Address.Properties, { PublicIpv4Pool: 'x' }),
    '`Address` (AWS::EC2::EIP) may be replaced: PublicIpv4Pool was left out and is "x". Webhooks would come',
  ],
  [
    'removed and kept',
    (all) => delete all.Queue,
    '`Queue` (AWS::SQS::Queue) would be removed from the stack and left behind. Messages that wait',
  ],
  [
    'replaced by another type',
    (all) => Object.assign(all.Queue, { Type: 'AWS::SNS::Topic', Properties: {} }),
    '`Queue` (AWS::SQS::Queue) would be replaced by a AWS::SNS::Topic.',
  ],
  [
    'no longer kept',
    (all) => Object.assign(all.Queue, { DeletionPolicy: 'Delete' }),
    '`Queue` (AWS::SQS::Queue) would no longer be kept: DeletionPolicy changes.',
  ],
])('warns first of what holds state and would be %s', (_, change, loss) => {
  const report = reportOn(change);
  expect(report).toContain(`> [!CAUTION]\n`);
  expect(report).toContain(`\n> - **WalletEu**: ${loss}`);
  expect(report.indexOf('[!CAUTION]')).toBeLessThan(report.indexOf('### WalletEu'));
});

it('warns of state without a policy that would be deleted', () => {
  const { Queue, ...others } = structuredClone(resources);
  const unkept = { ...others, Queue: { Type: Queue.Type, Properties: Queue.Properties } };
  const report = formatReport(side('base', { A: unkept }), side('change', { A: others }));
  expect(report).toContain('`Queue` (AWS::SQS::Queue) would be removed from the stack and deleted.');
});

it.each([
  [{ environment: 'aws://1/eu-west-1' }, 'The stack would be another one, in aws://1/eu-west-1'],
  [{ terminationProtection: false }, 'The stack would lose its termination protection'],
])('warns of %j, which no template has', (manifest, loss) => {
  expect(reportOn(() => {}, manifest)).toContain(`> - **WalletEu**: ${loss}`);
});

it('does not warn of changes in place, nor of what can be made again', () => {
  const report = reportOn((all) => {
    all.Cluster.Properties.Port = 5433;
    all.Password.Properties.Name = 'b';
  });
  expect(report).not.toContain('[!CAUTION]');
  expect(report).toContain('- Replaced: `Password` (AWS::SecretsManager::Secret)\n');
  expect(report).toContain('- Changed: `Cluster` (AWS::RDS::DBCluster)\n');
  expect(report).toMatch(/<details>[\s\S]*\[-\] 5432[\s\S]*\[\+\] 5433[\s\S]*<\/details>/);
});

it('names the functions that only have new code, and no hash', () => {
  const report = reportOn((all) => {
    all.Handler.Properties.Code.S3Key = `${hash('b')}.zip`;
  });
  expect(report).toContain('### WalletEu\n\n- New code in: `Handler`\n');
  expect(report).not.toMatch(/<details>|aaaa|bbbb/);
});

it('shortens a hash where more than the code changes', () => {
  const report = reportOn((all) => {
    all.Handler.Properties = { MemorySize: 512, Code: { S3Key: `${hash('b')}.zip` } };
  });
  expect(report).toContain('[+] bbbbbbbb….zip');
  expect(report).not.toContain(hash('b'));
});

it('shows permissions that a change grants', () => {
  const Statement = [{ Effect: 'Allow', Action: 'kms:Sign', Resource: '*' }];
  const Properties = { Roles: [{ Ref: 'Role' }], PolicyDocument: { Statement } };
  const report = reportOn((all) => Object.assign(all, { Policy: { Type: 'AWS::IAM::Policy', Properties } }));
  expect(report).toMatch(/\+ │ \* +│ Allow +│ kms:Sign +│ AWS:\$\{Role\}/);
});

it('reads in the manifests which stacks are gone and which are new', () => {
  const base = side('base', { WalletUae: resources, WalletEu: resources });
  const report = formatReport(base, side('change', { WalletEu: resources, WalletSg: resources }));
  expect(report).toContain('### WalletUae\n\nIs no longer in the app.');
  expect(report).toContain('### WalletSg\n\nA new stack in aws://1/eu-central-1, with 5 resources.');
  expect(report).not.toMatch(/### (WalletEu|Gone)\b/);
});

it('names new migrations, and warns of one that cannot be taken back', () => {
  const [base, change] = [side('base', { WalletEu: resources }), side('change', { WalletEu: resources })];
  const migrations = join(change.sources, 'lambda/database/migrations');
  writeFileSync(join(migrations, '0001-add.sql'), 'alter table groups add column note text;');
  expect(formatReport(base, change)).toBe(
    '## What this change does to the stacks\n\nNew migrations: `0001-add`.\n',
  );
  writeFileSync(join(migrations, '0002-drop.sql'), '-- cannot-be-taken-back: it held secrets');
  expect(formatReport(base, change)).toMatch(
    /> \[!CAUTION\]\n> \*\*After these migrations [^\n]+\n>\n> - `0002-drop`: it held secrets\n\nNew migrations: `0001-add`, `0002-drop`/,
  );
});
