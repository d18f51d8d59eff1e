import {
  type AllowListFormat,
  allowListFormatNames,
  allowListFormats,
  formatAllowList,
} from '../domain/allow-list';
import type { DashboardFacts } from '../domain/dashboard';
import { example, rows, warnings } from './content';
import { type PastedDelivery, verify } from './verify';

const facts = JSON.parse(byId('facts').textContent ?? '') as DashboardFacts;
const { address, reserve, support, others } = facts;

document.title = `${facts.environment} · Wallet infrastructure`;
byId('environment').textContent = facts.environment;
byId('purpose').textContent = facts.title;
byId('warnings').replaceChildren(...warnings(facts).map((text) => element('p', {}, text)));
byId('address').textContent = `${address}/32`;
byId('local').hidden = !address.startsWith('127.');
byId('reserve-part').hidden = !reserve;
byId('reserve').textContent = `${reserve}/32`;
byId('api').textContent = facts.apiBaseUrl;
byId('rows').append(
  ...rows(facts).flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
);
byId('signature-headers').append(...facts.signatureHeaders.map((name) => element('code', {}, ` ${name} `)));
byId('guide').setAttribute('href', support.guide);
byId('contact-link').textContent = support.contact;
const scheme = support.contact.startsWith('https:') ? '' : 'mailto:';
byId('contact-link').setAttribute('href', scheme + support.contact);
byId('others').hidden = others.length === 0;
for (const { environment, title, url } of others)
  byId('others').append(' ', element('a', { href: url, title, rel: 'noreferrer' }, environment));

for (const format of allowListFormatNames) {
  const radio = element('input', { type: 'radio', name: 'format' });
  radio.addEventListener('change', () => showAllowList(format));
  radio.toggleAttribute('checked', format === 'nginx');
  byId('formats').append(element('label', {}, radio, allowListFormats[format].title));
}
showAllowList('nginx');

function showAllowList(format: AllowListFormat): void {
  byId('list').textContent = formatAllowList(format, [facts]);
  byId('list-use').textContent = allowListFormats[format].use;
}

const form = byId('form') as HTMLFormElement;
const { headers, body, secret } = form.elements as unknown as Record<keyof PastedDelivery, HTMLInputElement>;
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const pasted = { headers: headers.value, body: body.value, secret: secret.value };
  const { verdict, title, details } = await verify(pasted, facts.signatureHeaders, Date.now());
  byId('result').className = `panel ${verdict}`;
  byId('result').replaceChildren(
    element('p', {}, element('strong', {}, title)),
    ...details.map((text) => element('p', {}, text)),
  );
});
form.addEventListener('reset', () => byId('result').replaceChildren());
byId('example').addEventListener('click', () => {
  [headers.value, body.value, secret.value] = [example.headers, example.body, example.secret];
  form.requestSubmit();
});
let timer: ReturnType<typeof setTimeout> | undefined;
form.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    secret.value = '';
    announce('The secret was cleared after five minutes without typing.');
  }, 300_000);
});
// The back button would restore the fields.
addEventListener('pagehide', () => form.reset());

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]'))
  button.addEventListener('click', async () => {
    const source = byId(button.dataset.copy ?? '');
    const copied = navigator.clipboard.writeText(source.textContent ?? '').then(() => 'Copied');
    // Without permission, selects the text for copying by keyboard.
    const outcome = await copied.catch(() => getSelection()?.selectAllChildren(source) ?? 'Selected');
    announce(outcome);
    button.textContent = outcome;
    setTimeout(() => button.replaceChildren('Copy'), 2_000);
  });

function announce(text: string): void {
  byId('announcer').textContent = text;
}

/** @throws Error if page.html has no such element */
function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
}

/** Strings become text nodes, never markup. */
function element(name: string, attributes: Readonly<Record<string, string>>, ...children: (Node | string)[]) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}
