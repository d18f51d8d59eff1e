import { CommandFailed } from '../failure';

/** Asks for facts, and goes on when one cannot be learned. */
export interface Inquiry {
  /** @returns undefined when AWS refuses or does not answer */
  learn<T>(fact: string, ask: () => Promise<T>): Promise<T | undefined>;
  /** A line for each reason why something could not be learned. */
  unknown(): readonly string[];
  remedies(): readonly string[];
}

export function createInquiry(): Inquiry {
  const failures: { readonly fact: string; readonly error: CommandFailed }[] = [];
  return {
    async learn(fact, ask) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof CommandFailed)) throw error;
        failures.push({ fact, error });
        return undefined;
      }
    },
    unknown: () =>
      [...new Set(failures.map(({ error }) => error.message))].map((reason) => {
        const facts = failures.filter(({ error }) => error.message === reason).map(({ fact }) => fact);
        return `unknown: ${facts.join(', ')}, because ${reason.replace(/\.$/, '')}`;
      }),
    remedies: () => [...new Set(failures.flatMap(({ error }) => error.remedy ?? []))],
  };
}
