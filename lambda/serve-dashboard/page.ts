import { factsMarker } from './environment';

/**
 * The page with the facts in it, inside of a script element that is data and no program. Every `<` is written as an
 * escape of JSON, so that no text of a fact can end that element.
 *
 * @throws Error when the page has not exactly one place for them
 */
export function fillPage(page: string, facts: string): string {
  const [before, after, ...more] = page.split(factsMarker);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`The page has not exactly one ${factsMarker}.`);
  }
  return before + facts.replaceAll('<', '\\u003c') + after;
}
