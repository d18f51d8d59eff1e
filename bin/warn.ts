import { printable } from '../domain/printable';

/** Prints a warning of the app; the CDK command line shows it. */
export const warn = (warning: string) => void process.stderr.write(`warning: ${printable(warning)}\n`);
