import { createHash } from 'node:crypto';
import type { AuthorizerModel } from './model';
import type { Policy } from './policy';

/** Entries from which on expired ones are removed. */
const FULL = 10_000;

/** The authorizer's answer for one identity, which is applied to each method. */
export interface AuthorizerResult {
  readonly policy: Policy;
  /** Values are strings, as the gateway passes them on. */
  readonly context: Readonly<Record<string, string>>;
}

export interface ResultCache {
  get(authorizer: AuthorizerModel, identity: readonly string[]): AuthorizerResult | undefined;
  put(authorizer: AuthorizerModel, identity: readonly string[], result: AuthorizerResult): void;
}

/** Keeps results for the authorizer's time to live, one for each identity. Tokens are kept as hashes only. */
export function createResultCache(clock: () => number): ResultCache {
  const entries = new Map<string, { readonly result: AuthorizerResult; readonly expires: number }>();
  const keyOf = ({ id }: AuthorizerModel, identity: readonly string[]) =>
    createHash('sha256')
      .update(JSON.stringify([id, ...identity]))
      .digest('base64');

  function sweep(): void {
    for (const [key, { expires }] of entries) if (expires <= clock()) entries.delete(key);
    if (entries.size >= FULL) entries.clear();
  }

  return {
    get(authorizer, identity) {
      const entry = entries.get(keyOf(authorizer, identity));
      return entry && entry.expires > clock() ? entry.result : undefined;
    },
    put(authorizer, identity, result) {
      // Without identity sources nothing tells callers apart.
      if (authorizer.resultTtl === 0 || identity.length === 0) return;
      if (entries.size >= FULL) sweep();
      entries.set(keyOf(authorizer, identity), { result, expires: clock() + authorizer.resultTtl * 1_000 });
    },
  };
}
