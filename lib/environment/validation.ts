import type { Environment } from './environment';
import type { Rule } from './rule';
import { environmentRules, optionalObjects, uniqueFields, uniqueStackFields } from './rules';

/** A row of the table of environments that cannot be deployed. The message names field, value and remedy. */
export class InvalidEnvironment extends Error {
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
    throw new InvalidEnvironment(
      label,
      row,
      'Write the environment as an object, as in lib/environment/environment.ts.',
    );
  }
  const name = typeof row.name === 'string' && row.name !== '' ? row.name : label;
  for (const rule of environmentRules) {
    check(rule, row, name);
  }
  refuseUnknownFields(row, name);
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
  for (const field of uniqueFields) {
    refuseRepetition(
      rows.map((row) => ({ field: `${row.name}.${field}`, value: row[field], owner: row.name })),
    );
  }
  for (const field of uniqueStackFields) {
    refuseRepetition(
      rows.flatMap(({ name, standby, ...row }) => [
        { field: `${name}.${field}`, value: row[field], owner: name },
        ...(standby
          ? [{ field: `${name}.standby.${field}`, value: standby[field], owner: `the standby of ${name}` }]
          : []),
      ]),
    );
  }
  return rows;
}

function refuseRepetition(
  fields: readonly { readonly field: string; readonly value: unknown; readonly owner: string }[],
): void {
  const owners = new Map<unknown, string>();
  for (const { field, value, owner } of fields) {
    const other = owners.get(value);
    if (other !== undefined) {
      throw new InvalidEnvironment(field, value, `${other} has the same: choose another.`);
    }
    owners.set(value, owner);
  }
}

function check(rule: Rule, row: Record<string, unknown>, name: string): void {
  const keys = rule.field.split('.');
  const key = keys.pop() as string;
  const parent = keys.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), row);
  if (parent === undefined && optionalObjects.includes(keys.join('.'))) return;
  const value = isRecord(parent) ? parent[key] : undefined;
  if (value === undefined && rule.optional && isRecord(parent)) return;
  const environment = row as unknown as Environment;
  if (!rule.accepts(value, environment)) {
    const remedy = typeof rule.remedy === 'function' ? rule.remedy(environment) : rule.remedy;
    throw new InvalidEnvironment(`${name}.${rule.field}`, value, remedy);
  }
}

/** A misspelt optional field would otherwise be ignored. */
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
