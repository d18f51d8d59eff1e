import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { projectRoot, readSource, sourcesIn } from '../architecture/sources';
import { anchorsOf, missingHeadings, readDocuments } from '../support/documents';
import { complete, withDirectAccess } from '../support/rows';
import { synthesizeEveryStack } from '../support/stacks';
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
  .map((path) => readSource(path).replace(/\/\*[\s\S]*?\*\/|^ *\/\/.*/gm, ''));
const stacks = Object.values({
  ...synthesizeEveryStack([complete]),
  ...synthesizeEveryStack([withDirectAccess]),
});
const wordsIn = (text: string): readonly string[] => text.match(/[A-Za-z_-][\w-]*\w/g) ?? [];

/** Words of the product: of its sources without comments, its templates, where ids end with eight digits, and its files' names. */
const ours = new Set(
  [...sources, ...files, ...stacks.map(({ json }) => JSON.stringify(json))]
    .flatMap(wordsIn)
    .flatMap((word) => [word, word.replace(/[0-9A-F]{8}$/, '')]),
);
/** Words of the installed clients, as they are and as options. */
const ofAws = new Set(
  inFolder('node_modules/@aws-sdk')
    .filter((path) => /\/client-[a-z0-9-]+\/dist-cjs\/index\.js$/.test(path))
    .flatMap((path) => [...new Set(wordsIn(readSource(path)))])
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

it('the runbook has every heading that the source links to', () => {
  const texts = sourcesIn('cli', 'lambda', 'lib', 'local').map(({ text }) => text);
  expect(texts.flatMap(missingHeadings)).toEqual([]);
});
