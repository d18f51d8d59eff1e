/** The values of the named variables, each of them present and not empty. */
export type Variables<Name extends string> = { readonly [name in Name]: string };

/**
 * Reads the named variables from a process environment.
 *
 * @throws Error that names every variable that is missing or empty.
 */
export function readVariables<const Name extends string>(
  names: readonly Name[],
  source: Readonly<Record<string, string | undefined>>,
): Variables<Name> {
  const missing = names.filter((name) => !source[name]);
  if (missing.length > 0) {
    throw new Error(
      `Missing environment variables: ${missing.join(', ')}. The stack fills them: deploy it again.`,
    );
  }
  return Object.fromEntries(names.map((name) => [name, source[name]])) as Variables<Name>;
}

/** What a function in a VPC gets once a day, so that Lambda keeps its network interfaces. */
export const keepActiveEvent = { keepActive: true } as const;
