import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * The certificate authorities that the database's certificate may end in, as PEM.
 *
 * @param file beside the function's code, or an absolute path
 */
export const readCertificateAuthorities = (file: string): string =>
  readFileSync(resolve(__dirname, file), 'utf8');
