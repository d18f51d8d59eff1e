/** The values of the named variables, none of them empty. */
export type Variables<Name extends string> = { readonly [name in Name]: string };

/** Reads the named variables of a process. @throws Error that lists every missing or empty one */
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

/** Sent once a day to functions in a VPC, so that Lambda does not reclaim their network interfaces. */
export const keepActiveEvent = { keepActive: true } as const;

/** Every route's function gets them: a JSON object of the headers of every response, such as `Deprecation`; often `{}`. */
export const routeVariables = ['RESPONSE_HEADERS'] as const;
