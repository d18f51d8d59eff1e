import type { Environment } from './environment';
import { InvalidInput } from './invalid-input';
import type { Rule } from './rule';
import { environmentRules, optionalObjects, uniqueFields } from './rules';

/** A row of the table of environments that cannot be deployed. The message names field, value and remedy. */
export class InvalidEnvironment extends InvalidInput {
  override readonly name = 'InvalidEnvironment';
  constructor(
    /** Path of the field, such as `eu.database.capacity.minimum`. */
    readonly field: string,
    readonly value: unknown,
    readonly remedy: string,
  ) {
    super(`${field} is ${JSON.stringify(value) ?? 'missing'}. ${remedy}`);
  }
}

/**
 * Checks one row.
 *
 * @throws InvalidEnvironment for the first field that is refused.
 */
export function validateEnvironment(row: unknown, label = 'environment'): Environment {
  if (!isRecord(row)) {
    throw new InvalidEnvironment(label, row, objectRemedy);
  }
  const name = typeof row.name === 'string' && row.name !== '' ? row.name : label;
  // First of all, for a misspelt field would be reported as one that is missing, or be ignored.
  refuseUnknownFields(row, name);
  for (const rule of environmentRules) {
    check(rule, row, name);
  }
  return row as unknown as Environment;
}

/**
 * Checks the whole table: each row by itself, and what must differ between rows.
 *
 * @throws InvalidEnvironment for the first field that is refused.
 */
export function validateEnvironments(table: unknown): readonly Environment[] {
  if (!Array.isArray(table) || table.length === 0) {
    throw new InvalidEnvironment('environments', table, 'Give a list with at least one environment.');
  }
  const rows = table.map((row, index) => validateEnvironment(row, `environments[${index}]`));
  for (const fields of uniqueFields) refuseRepetition(rows, fields);
  return rows;
}

function refuseRepetition(rows: readonly Environment[], fields: readonly string[]): void {
  const owners = new Map<unknown, string>();
  for (const [index, row] of rows.entries()) {
    // Two rows of one name are told apart by their places.
    const label = fields.includes('name') ? `environments[${index}]` : row.name;
    for (const field of fields) {
      const value = valueAt(row, field.split('.'));
      const owner = owners.get(value);
      if (value === undefined) continue;
      if (owner !== undefined) {
        throw new InvalidEnvironment(`${label}.${field}`, value, `${owner} is the same: choose another.`);
      }
      owners.set(value, `${label}.${field}`);
    }
  }
}

function check(rule: Rule, row: Record<string, unknown>, name: string): void {
  const path = rule.field.split('.');
  const parents = path.slice(0, -1).map((_, index) => path.slice(0, index + 1));
  for (const parent of parents) {
    const object = valueAt(row, parent);
    if (object === undefined && optionalObjects.includes(parent.join('.'))) return;
    if (!isRecord(object)) throw new InvalidEnvironment([name, ...parent].join('.'), object, objectRemedy);
  }
  const value = valueAt(row, path);
  if (value === undefined && rule.optional) return;
  const environment = row as unknown as Environment;
  if (!rule.accepts(value, environment)) {
    const remedy = typeof rule.remedy === 'function' ? rule.remedy(environment) : rule.remedy;
    throw new InvalidEnvironment(`${name}.${rule.field}`, value, remedy);
  }
}

const objectRemedy = 'Write an object, as in lib/environment/environment.ts.';

const valueAt = (row: unknown, path: readonly string[]): unknown =>
  path.reduce((value, key) => (isRecord(value) ? value[key] : undefined), row);

function refuseUnknownFields(
  value: Record<string, unknown>,
  name: string,
  path: readonly string[] = [],
): void {
  for (const [key, inner] of Object.entries(value)) {
    const field = [...path, key].join('.');
    const known = environmentRules.some((rule) => rule.field === field || rule.field.startsWith(`${field}.`));
    if (!known) {
      throw new InvalidEnvironment(
        `${name}.${field}`,
        inner,
        'No such field: compare with lib/environment/environment.ts.',
      );
    }
    if (isRecord(inner)) {
      refuseUnknownFields(inner, name, [...path, key]);
    }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
