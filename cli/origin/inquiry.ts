import { CommandFailed } from '../failure';

/** Asks for facts, and goes on when one cannot be learned. */
export interface Inquiry {
  /** @returns undefined when AWS refuses or does not answer */
  learn<T>(facts: readonly string[], ask: () => Promise<T>): Promise<T | undefined>;
  /** Whether a fact could not be learned. */
  misses(fact: string): boolean;
  /** A line for each reason why something could not be learned. */
  unknown(): readonly string[];
  remedies(): readonly string[];
}

export function createInquiry(): Inquiry {
  const failures: { readonly facts: readonly string[]; readonly error: CommandFailed }[] = [];
  return {
    async learn(facts, ask) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof CommandFailed)) throw error;
        failures.push({ facts, error });
        return undefined;
      }
    },
    misses: (fact) => failures.some(({ facts }) => facts.includes(fact)),
    unknown: () =>
      [...new Set(failures.map(({ error }) => error.message))].map((reason) => {
        const facts = failures
          .filter(({ error }) => error.message === reason)
          .flatMap((failure) => failure.facts);
        return `unknown: ${facts.join(', ')}, because ${reason.replace(/\.$/, '')}`;
      }),
    remedies: () => [...new Set(failures.flatMap(({ error }) => error.remedy ?? []))],
  };
}
