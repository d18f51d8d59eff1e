/**
 * The logical ids that a piece of a template mentions through `Ref`, `Fn::GetAtt` or `Fn::Sub`: parameters and
 * pseudo parameters too, which the caller tells apart by looking them up.
 */
export function references(value: unknown): Set<string> {
  const found = new Set<string>();
  collect(value, found);
  return found;
}

function collect(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, found);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, argument] of Object.entries(value)) {
    if (key === 'Ref') found.add(String(argument));
    else if (key === 'Fn::GetAtt')
      found.add(String(Array.isArray(argument) ? argument[0] : argument).split('.')[0] ?? '');
    else {
      if (key === 'Fn::Sub') collectFromText(Array.isArray(argument) ? argument[0] : argument, found);
      collect(argument, found);
    }
  }
}

function collectFromText(text: unknown, found: Set<string>): void {
  for (const [, name] of String(text).matchAll(/\$\{([^!}.]+)[^}]*\}/g)) found.add((name ?? '').trim());
}
