import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { projectRoot, sourcesIn } from '../architecture/sources';
import { anchorsOf, missingHeadings, readDocuments } from '../support/documents';
import { complete, withDirectAccess } from '../support/rows';
import { type Resource, synthesizeEveryStack } from '../support/stacks';
import { flagsOf } from '../support/wallet-command';
import { optionOf } from './calls';

const documents = readDocuments();
const find = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found = '']) => found);

function linkExists(path: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true;
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? join(projectRoot, path) : resolve(projectRoot, dirname(path), file);
  return existsSync(target) && (!anchor || anchorsOf(readFileSync(target, 'utf8')).has(anchor));
}

const inFolder = (folder: string) =>
  readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
    join(folder, name),
  );
const isFile = (path: string) => statSync(join(projectRoot, path)).isFile();
const product = ['bin', 'cli', 'dashboard', 'domain', 'lambda', 'lib', 'local', '.ci', '.github'].flatMap(
  inFolder,
);
const files = [...product, ...['docs', 'test'].flatMap(inFolder), ...readdirSync(projectRoot)];
const sources = [...product, 'package.json', 'cdk.json', 'test/support/rows.ts', 'test/support/table.ts']
  // The operator's own.
  .filter((path) => path !== 'lib/environments.ts' && isFile(path))
  .map((path) => readFileSync(join(projectRoot, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|^ *\/\/.*/gm, ''));
const stacks = Object.values(synthesizeEveryStack([complete]));
const others = Object.values(synthesizeEveryStack([withDirectAccess]));
const wordsIn = (text: string): readonly string[] => text.match(/[A-Za-z_-][\w-]*\w/g) ?? [];

/** Words of the product: of its sources without comments, its templates, where ids end with eight digits, and its files' names. */
const ours = new Set(
  [...sources, ...files, ...[...stacks, ...others].map(({ json }) => JSON.stringify(json))]
    .flatMap(wordsIn)
    .flatMap((word) => [word, word.replace(/[0-9A-F]{8}$/, '')]),
);
/** Words of the installed clients, as they are and as options. */
const ofAws = new Set(
  inFolder('node_modules/@aws-sdk')
    .filter((path) => /\/client-[a-z0-9-]+\/dist-cjs\/index\.js$/.test(path))
    .flatMap((path) => [...new Set(wordsIn(readFileSync(join(projectRoot, path), 'utf8')))])
    .flatMap((word) => [word, optionOf(word), `--${optionOf(word)}`]),
);
/** Of services without a client, of other programs, and values of examples. */
const foreign = new Set(
  wordsIn(`
    AdministratorAccess AlreadyAssociated AWSBackupServiceRolePolicyForRestores AWS_USE_DUALSTACK_ENDPOINT AWS_USE_FIPS_ENDPOINT CDKToolkit
    FILL FullAWSAccess GetParameter INTEGRATION_ RCPFullAWSAccess ReadOnlyAccess TLS_1_2 global_db_rpo rpo_lag_in_msec sso_region
    ALL_PROXY Collections Collectors analyze Header NO_PROXY ReadAll Sec-Fetch-Site array_change_key_case autoSelectFamily boto3 csrf_exempt ffff
    file_get_contents get_data getallheaders include_enterprise_slug insecureHTTPParser io mod_evasive php proper-lockfile psql rawBody
    rewrite sqlite undici
    BTC btc database-uae e-16384 e-400 e400 eu-on-call eu-operate residency-uae sql_state_28P01 token_ uae-operate uae-read
    ug-1a2b3-c4d5e-f6g7h8i9j0k1l2m3 user_action_ wallet-NAME wallet-operate-NAME wallet-operate-uae wallet-recovery
    WALLET_NAME_ACCOUNT WALLET_UAE_ACCOUNT WalletEuStandby-WebhookEventsQueue FUNCTION QUALIFIER TEAM VAULT`),
);
const isKnown = (word: string) => [ours, ofAws, foreign].some((words) => words.has(word));

/** Options of one of our commands that it does not have. */
function unknownOptions(span: string): readonly string[] {
  const [first = '', second = '', ...others] = span.replace(/^\.\/wallet /, '').split(' ');
  const found = [`${first} ${second}`, first].flatMap(
    (name) => flagsOf(name) ?? flagsOf(`local ${name}`) ?? [],
  );
  return found.length === 0
    ? []
    : [second, ...others].filter((each) => /^--[a-z]/.test(each) && !found.includes(each));
}

it.each(documents)('$path names only what exists', ({ path, text }) => {
  expect(find(text, /\]\(([^)\s]+)\)/g).filter((link) => !linkExists(path, link))).toEqual([]);
  const current = text.replace(/^### Removed[\s\S]*/m, '').replace(/^ *```[\s\S]*?^ *```/gm, '');
  const spans = find(current, /`([^`]+)`/g).map((span) => span.replace(/\s+/g, ' '));
  expect(spans.flatMap(unknownOptions)).toEqual([]);
  // The changelog also names what is gone.
  const names = spans.filter((span) => path !== 'CHANGELOG.md' && !span.includes(' ')).flatMap(wordsIn);
  expect(names.filter((word) => !isKnown(word))).toEqual([]);
});

it('needs each foreign name', () => {
  const named = new Set(documents.flatMap(({ text }) => wordsIn(text)));
  expect([...foreign].filter((word) => !named.has(word) || ours.has(word) || ofAws.has(word))).toEqual([]);
});

it('the runbook has every heading that the source links to', () => {
  const texts = sourcesIn('cli', 'lambda', 'lib', 'local').map(({ text }) => text);
  expect(texts.flatMap(missingHeadings)).toEqual([]);
});

/**
 * The alarms that notify: whether each fires without data, and the minutes after its last event until it is `OK`, if it counts events.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
 */
const alarms = stacks.flatMap((stack) => {
  const nameOf = ({ Properties }: Resource): string => Properties.AlarmName.replace(`${stack.name}-`, '');
  const all = stack.all('AWS::CloudWatch::Alarm').map((alarm) => {
    const { AlarmActions, TreatMissingData, Statistic: Stat, Period, Metrics } = alarm.Properties;
    const parts: readonly { Stat: string; Period: number }[] = Metrics?.flatMap(
      ({ MetricStat = [] }) => MetricStat,
    ) ?? [{ Stat, Period }];
    const counts = TreatMissingData === 'notBreaching' && parts.every((part) => part.Stat === 'Sum');
    return {
      ...{ name: nameOf(alarm), logicalId: alarm.logicalId, notifies: AlarmActions !== undefined },
      firesWithoutData: TreatMissingData === 'breaching' && alarm.Condition === undefined,
      minutesUntilOk: counts ? (parts[0]?.Period ?? 0) / 60 : 0,
    };
  });
  // It is in ALARM while all of its parts are.
  const composites = stack.all('AWS::CloudWatch::CompositeAlarm').map((alarm) => {
    const rule = JSON.stringify(alarm.Properties.AlarmRule);
    const parts = all.filter(({ logicalId }) => rule.includes(logicalId));
    const minutesUntilOk = Math.min(...parts.map((part) => part.minutesUntilOk));
    return { name: nameOf(alarm), firesWithoutData: false, minutesUntilOk };
  });
  return [...all.filter(({ notifies }) => notifies), ...composites];
});

/** The names of alarms in a text; `function-errors-…` names several. */
const alarmsIn = (text: string) =>
  find(text, /`([^`\s]+)`/g).flatMap((span) =>
    alarms
      .map(({ name }) => name)
      .filter((name) => name === span || (span.endsWith('…') && name.startsWith(span.slice(0, -1)))),
  );

it('alarms.md says which alarms return to OK by themselves, and after how long', () => {
  const page = documents.find(({ path }) => path === 'docs/runbook/alarms.md')?.text ?? '';
  const rows = Array.from(page.matchAll(/^\| (\d+) minutes \| (.*) \|$/gm));
  const said = rows.flatMap(([, minutes, cell = '']) =>
    alarmsIn(cell).map((name) => [name, Number(minutes)]),
  );
  const computed = alarms.flatMap(({ name, minutesUntilOk }) =>
    minutesUntilOk ? [[name, minutesUntilOk]] : [],
  );
  expect(said.sort()).toEqual(computed.sort());
});

it('lists that say what fires without data, as in a new stack, are complete', () => {
  const sentences = documents.flatMap(({ path, text }) =>
    (path === 'CHANGELOG.md' ? '' : text.replace(/^\|.*$/gm, ''))
      .replace(/\s+/g, ' ')
      .split(/(?<=[.:]) (?=[A-Z*])/)
      .filter((each) => /\bnew stack\b|\bwithout data\b/i.test(each)),
  );
  const lists = sentences.map(alarmsIn).filter((list) => list.length > 0);
  const expected = alarms.filter(({ firesWithoutData }) => firesWithoutData).map(({ name }) => name);
  expect(lists.map((list) => list.sort())).toEqual([expected.sort()]);
});

it('the runbook names graphs as the CloudWatch dashboard does, in italics', () => {
  const bodies = stacks.flatMap((stack) =>
    JSON.stringify(stack.all('AWS::CloudWatch::Dashboard')).replace(/\\+"/g, '"'),
  );
  const graphs = bodies.flatMap((body) => find(body, /"title":"(.*?)"/g));
  const runbook = documents.filter(({ path }) => /runbook/.test(path));
  const named = runbook.flatMap(({ text }) => find(text, /(?<![*\w])\*([A-Z][^*]+)\*(?![*\w])/g));
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((title) => !graphs.includes(title.replace(/\s+/g, ' ')))).toEqual([]);
});
