import { parseEvent } from '../../domain/event';
import { readAccountSettings } from '../../lib/account/settings';
import { workflows } from '../ci/workspace';
import { readDocuments } from '../support/documents';
import { flagsOf } from '../support/wallet-commands';

const documents = readDocuments();
const page = (name: string) => documents.find(({ path }) => path === `docs/${name}.md`)?.text ?? '';
const current = documents.filter(({ path }) => path !== 'CHANGELOG.md');
const text = current.map((document) => document.text).join('\n');

const commands = new Set(text.match(/(?<=\.\/wallet )[a-z][^`\n#]*/g));

it.each([...commands])('./wallet %s', (command) => {
  const [, first = '', second = ''] = /^([a-z-]+)(?: ([a-z-]+))?/.exec(command) ?? [];
  const flags = flagsOf(`${first} ${second}`) ?? flagsOf(first) ?? flagsOf(`local ${first}`);
  expect(flags).toEqual(expect.arrayContaining(command.match(/(?<=\s)--[a-z-]+/g) ?? []));
});

it('deploying.md passes the account stack the settings that it reads', () => {
  const [line = ''] = /^npm run -s account -- deploy.*$/m.exec(page('deploying')) ?? [];
  const context = Object.fromEntries(
    Array.from(line.matchAll(/-c ([a-z-]+)=(\S+)/g), ([, name, value]) => [name, value]),
  );
  const settings = { repository: 'owner/name', region: 'eu-central-1', budget: 2000 };
  expect(readAccountSettings((name) => context[name])).toMatchObject(settings);
});

it('deploying.md names the variables that the workflows read', () => {
  const all = workflows.map((workflow) => workflow.text).join('\n');
  const named = Array.from(page('deploying').matchAll(/^- `([A-Z_]+)` is/gm), ([, name]) => name);
  expect(new Set(named)).toEqual(new Set(Array.from(all.matchAll(/\bvars\.(\w+)/g), ([, name]) => name)));
  expect(all).not.toMatch(/\bsecrets\./);
});

it('the example in events.md is an event', () => {
  const [, event = ''] = /```json\n(.+)\n```/.exec(page('events')) ?? [];
  expect(parseEvent(event)).toMatchObject({ ok: true });
});
