import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Operation, type Problem, routes } from '../../domain/routes';

/** A response's codes: `code: # OPERATION STATUS; CODES`, those of `domain/routes.ts` before the gateway's, which are listed. */
const marked = /^( +)(code: # (\w+) (\d{3})(?:; (.+))?\n)(?:\1 .*\n)+/gm;

/** The API's document with the codes of each marked response as in `domain/routes.ts`. @throws Error for an unknown operation */
export const withProblems = (document: string): string =>
  document.replace(
    marked,
    (_, indent: string, mark: string, operation: string, status: string, listed = '') => {
      const { problems } = routes[operation as Operation] ?? {};
      if (!problems) throw new Error(`domain/routes.ts has no operation ${operation}.`);
      const own = Object.entries<Problem>(problems).filter(([, each]) => each.status === Number(status));
      const codes = [...own.map(([code]) => code), ...listed.split(', ').filter(Boolean)];
      const items = codes.map((code) => `${indent}    - ${code}\n`);
      return `${indent}${mark}${indent}  enum:\n${items.join('')}`;
    },
  );

if (require.main === module) {
  const file = join(__dirname, '../../lib/openapi.yaml');
  writeFileSync(file, withProblems(readFileSync(file, 'utf8')));
}
