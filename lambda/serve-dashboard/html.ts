/** Markup that is safe to insert into a page. */
export class Html {
  constructor(readonly text: string) {}
}

/** What a template may contain: text, which is escaped, and markup. */
export type Content = string | number | Html | readonly Content[];

const render = (content: Content): string => {
  if (content instanceof Html) return content.text;
  if (typeof content === 'object') return content.map(render).join('');
  return String(content).replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
};

/** A template whose values are safe as text, and in attributes with quotes. */
export const html = ({ raw }: TemplateStringsArray, ...values: readonly Content[]): Html =>
  new Html(String.raw({ raw }, ...values.map(render)));
