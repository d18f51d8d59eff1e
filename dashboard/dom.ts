/** @throws Error when the page has no such element: page.html and its program go together */
export function byId<Type extends HTMLElement>(id: string, type: abstract new () => Type): Type {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} #${id}.`);
  return found;
}

type Child = Node | string;

/** An element with these attributes and children. Texts are texts, never markup. */
export function element(
  name: keyof HTMLElementTagNameMap,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElement {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

/** Has screen readers say it, wherever the focus is. */
export function announce(text: string): void {
  byId('announcer', HTMLElement).textContent = text;
}

export interface Panel {
  readonly kind: 'good' | 'warning' | 'bad';
  readonly title: string;
  readonly content: readonly Child[];
}

/** Shows how something ended in a live region, where it is read out. */
export function showPanel(region: HTMLElement, { kind, title, content }: Panel): void {
  region.replaceChildren(element('div', { class: `panel ${kind}` }, element('h3', {}, title), ...content));
  region.scrollIntoView({ block: 'nearest' });
}
