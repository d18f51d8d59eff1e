import { randomInt } from 'node:crypto';

/** An id's type: `or` organization, `us` user, `sa` service account, `ug` user group, `pm` permission, `as` assignment, `wh` webhook. */
export type IdPrefix = 'or' | 'us' | 'sa' | 'ug' | 'pm' | 'as' | 'wh';

export type Id<Prefix extends IdPrefix = IdPrefix> = `${Prefix}-${string}-${string}-${string}`;

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A new id: 26 uniformly random characters of [a-z0-9] from the operating system's random source (134 bits). */
export const newId = <Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix> =>
  `${prefix}-${randomCharacters(5)}-${randomCharacters(5)}-${randomCharacters(16)}`;

/** Whether the text is an id with one of the prefixes. The last part has 14 to 16 characters: other services may write fewer than ours. */
export function isId<Prefix extends IdPrefix>(
  text: string,
  ...prefixes: readonly Prefix[]
): text is Id<Prefix> {
  const prefix = text.slice(0, text.indexOf('-'));
  return (
    (prefixes as readonly string[]).includes(prefix) &&
    /^[a-z]{2}-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$/.test(text)
  );
}

export function randomCharacters(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
