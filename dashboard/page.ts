import { type PastedDelivery, sign, splitDelivery, type Verification, verify } from './verify';

/** The choice of tabs, and the ticks. Without storage (blocked, full or absent) nothing is remembered. */
function remember(key: string, value?: string): string | null {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

// https://www.w3.org/WAI/ARIA/apg/patterns/tabs/
for (const group of document.querySelectorAll<HTMLElement>('[data-tabs]')) {
  const name = group.dataset.tabs ?? '';
  const key = `tab-${name}`;
  const panels = [...group.children] as HTMLElement[];
  const tabs = panels.map((panel) => {
    const heading = panel.querySelector('h3');
    const attributes = { type: 'button', role: 'tab', id: `${panel.id}-tab`, 'aria-controls': panel.id };
    const tab = element('button', attributes, heading?.textContent ?? '');
    panel.role = 'tabpanel';
    panel.setAttribute('aria-labelledby', tab.id);
    tab.addEventListener('click', () => select(remember(key, panel.id) ?? panel.id));
    return tab;
  });
  const select = (id: string) => {
    for (const [index, tab] of tabs.entries()) {
      const panel = panels[index] as HTMLElement;
      panel.hidden = panel.id !== id;
      tab.ariaSelected = String(!panel.hidden);
      tab.tabIndex = panel.hidden ? -1 : 0;
    }
  };
  const list = element('div', { role: 'tablist', class: 'clip row', 'aria-label': name }, ...tabs);
  list.addEventListener('keydown', (event) => {
    const now = tabs.indexOf(event.target as HTMLElement);
    const next = { ArrowLeft: now - 1, ArrowRight: (now + 1) % tabs.length, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    tabs.at(next)?.focus();
    tabs.at(next)?.click();
  });
  group.prepend(list);
  const remembered = panels.find(({ id }) => id === remember(key)) ?? panels[0];
  select(remembered?.id ?? '');
}

for (const box of document.querySelectorAll<HTMLInputElement>('[type=checkbox]')) {
  box.checked = remember(box.id) === 'true';
  box.addEventListener('change', () => remember(box.id, String(box.checked)));
}

// Long on a phone. Paper has everything.
const details = document.querySelector('details') as HTMLDetailsElement;
details.open = matchMedia('(width >= 56rem)').matches;
addEventListener('beforeprint', () => {
  details.open = true;
});

for (const copied of document.querySelectorAll<HTMLElement>('[data-copy]')) {
  const source = copied.querySelector('code, pre') as HTMLElement;
  const button = element('button', { type: 'button', 'aria-label': `Copy ${copied.dataset.copy}` }, 'Copy');
  copied.prepend(button);
  button.addEventListener('click', async () => {
    const writing = navigator.clipboard.writeText(source.textContent).then(() => 'Copied');
    // Without permission, selects the text for copying by keyboard.
    const outcome = await writing.catch(() => getSelection()?.selectAllChildren(source) ?? 'Selected');
    byId('announcer').textContent = outcome;
    button.textContent = outcome;
    setTimeout(() => button.replaceChildren('Copy'), 2_000);
  });
}

const form = byId('form') as HTMLFormElement;
form.hidden = false;
const { headers, body, secret } = form.elements as unknown as Record<keyof PastedDelivery, HTMLInputElement>;
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const pasted = { headers: headers.value, body: body.value, secret: secret.value };
  show(await verify(pasted, form.dataset.signatureHeaders?.split(' ') ?? [], Date.now()));
});
// A screen reader announces verdicts from the first use on, not that of the example.
form.addEventListener('click', () => byId('verdict').setAttribute('role', 'status'), { once: true });

function show({ verdict, title, details, problems = [], compared }: Verification): void {
  clear();
  for (const [field, problem] of problems) {
    byId(`${field}-problem`).append(`${problem} `);
    byId(field).ariaInvalid = 'true';
  }
  form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  const sentences = details.map((text) => element('p', {}, text));
  const panel = element('div', { class: `panel ${verdict}` }, element('strong', {}, title), ...sentences);
  byId('verdict').append(panel);
  if (!compared) return;
  const { signed, expected, received } = compared;
  for (const [index, part] of document.querySelectorAll('#signed b').entries())
    part.textContent = signed[index] ?? '';
  const like = received.find((each) => each === expected) ?? received[0];
  byId('expected').replaceChildren(...marked(expected, like));
  byId('received').replaceChildren(...received.flatMap((each) => [...marked(each, expected), ' ']));
  byId('comparison').hidden = false;
}

/** Marks the first character that differs. */
function marked(text: string, other = ''): readonly (Node | string)[] {
  const at = [...text].findIndex((each, index) => each !== other[index]);
  return at < 0 ? [text] : [text.slice(0, at), element('mark', {}, text.charAt(at)), text.slice(at + 1)];
}

/** No verdict stays beside another input. */
function clear(): void {
  byId('comparison').hidden = true;
  for (const shown of document.querySelectorAll('#verdict, .problem')) shown.replaceChildren();
  for (const field of document.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
}

form.addEventListener('reset', clear);
const example = new Map<HTMLInputElement, string>();
async function fillIn(): Promise<void> {
  const [id, text] = [byId('example-id').textContent, byId('example-body').textContent];
  const timestamp = `${Math.floor(Date.now() / 1_000)}`;
  const key = 'whsec_dGVzdCB2ZWN0b3I6IG5ldmVyIHNpZ24gd2l0aCBpdCE=';
  const signature = await sign([id, timestamp, text], key);
  example.set(headers, `webhook-id: ${id}\nwebhook-timestamp: ${timestamp}\nwebhook-signature: ${signature}`);
  example.set(body, text).set(secret, key);
  for (const [field, value] of example) field.value = value;
  form.requestSubmit();
}
byId('example').addEventListener('click', fillIn);
fillIn();
// What is pasted never mixes with the example.
form.addEventListener('paste', () => {
  for (const [field, value] of example) if (field.value === value) field.value = '';
});
let timer: ReturnType<typeof setTimeout> | undefined;
form.addEventListener('input', ({ target }) => {
  clear();
  const divided = target === secret ? undefined : splitDelivery((target as HTMLInputElement).value);
  if (divided) [headers.value, body.value] = divided;
  clearTimeout(timer);
  timer = setTimeout(() => {
    secret.value = '';
    byId('announcer').textContent = 'The secret was cleared after five minutes without typing.';
  }, 300_000);
});
// The back button would restore the fields.
addEventListener('pagehide', () => form.reset());

function byId(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

/** Strings become text nodes, never markup. */
function element(name: string, attributes: Readonly<Record<string, string>>, ...children: (Node | string)[]) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}
