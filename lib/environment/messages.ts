export const zonesRemedy = 'Name 2 or 3 availability zones of the region, each once, such as eu-central-1a.';
export const residencyRemedy = "List AWS region codes, each once, including the row's region.";

/** Invalid input from a deployer. The message states the fix and needs no stack trace. */
export class InvalidInput extends Error {
  override readonly name: string = 'InvalidInput';
}

export interface InvalidField {
  /** Path, such as `eu.database.capacity.minimum`. */
  readonly field: string;
  readonly value: unknown;
  readonly remedy: string;
}

/** Names each wrong field of the table, its value and the fix. */
export class InvalidEnvironment extends InvalidInput {
  override readonly name = 'InvalidEnvironment';
  constructor(readonly fields: readonly InvalidField[]) {
    const lines = fields.map(
      ({ field, value, remedy }) => `${field} is ${JSON.stringify(value) ?? 'missing'}. ${remedy}`,
    );
    super(lines.join('\n'));
  }
}
