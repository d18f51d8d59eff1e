import type { Template } from './manifest';

/** The values of a stack's resources on this machine; undefined where there is none. */
export interface ResourceValues {
  /** What `Ref` gives: the physical id. */
  ref(logicalId: string): string | undefined;
  /** What `Fn::GetAtt` gives. */
  attribute(logicalId: string, attribute: string): unknown;
  /** A secret's value by name or ARN, or one key of its JSON document. */
  secret(secretId: string, jsonKey: string | undefined): string | undefined;
}

export interface TemplateContext {
  readonly stackName: string;
  readonly region: string;
  readonly accountId: string;
  readonly template: Template;
  readonly resources: ResourceValues;
}

export interface TemplateResolver {
  /**
   * Resolves everything in a piece of a template.
   *
   * @param path where it stands in the template, for errors: `Resources.Api.Properties`
   * @throws Error for an unsupported intrinsic, and for whatever has no value on this machine
   */
  resolve(value: unknown, path: string): unknown;
  /** Whether a condition of the template holds. */
  condition(name: string): boolean;
}

/** Stands for `AWS::NoValue` while resolving; never leaves `resolve`. */
const noValue = Symbol('AWS::NoValue');

type Fields = Readonly<Record<string, unknown>>;

/**
 * Gives the intrinsic functions that the templates use their values on this machine.
 *
 * Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
 */
export function createResolver(context: TemplateContext): TemplateResolver {
  const { template, region, accountId, stackName, resources } = context;
  const conditions = new Map<string, boolean | 'being decided'>();

  function refuse(path: string, problem: string): never {
    throw new Error(`${stackName}, ${path}: ${problem}`);
  }

  const pseudoParameters: Fields = {
    'AWS::AccountId': accountId,
    'AWS::NoValue': noValue,
    'AWS::Partition': 'aws',
    'AWS::Region': region,
    'AWS::StackId': `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`,
    'AWS::StackName': stackName,
    'AWS::URLSuffix': 'amazonaws.com',
  };

  function ref(name: string, path: string): unknown {
    if (Object.hasOwn(pseudoParameters, name)) return pseudoParameters[name];
    const parameter = template.Parameters?.[name];
    if (!parameter)
      return resources.ref(name) ?? refuse(path, `the resource ${name} has no physical id here`);
    if (parameter.Type.includes('List'))
      refuse(path, `the parameter ${name} is a list, which is unsupported`);
    return String(parameter.Default ?? refuse(path, `the parameter ${name} has no default`));
  }

  function attribute(name: string, path: string): unknown {
    const [logicalId = '', ...rest] = name.split('.');
    return (
      resources.attribute(logicalId, rest.join('.')) ??
      refuse(path, `the resource ${logicalId} has no attribute ${rest.join('.')} here`)
    );
  }

  const intrinsics: Readonly<Record<string, (argument: unknown, path: string) => unknown>> = {
    Ref: (argument, path) => ref(String(argument), path),
    'Fn::GetAtt': (argument, path) => attribute([argument].flat().join('.'), path),
    'Fn::Sub': (argument, path) =>
      text(argument, path).replace(/\$\{(!?)([^}]*)\}/g, (_, literal: string, name: string) => {
        if (literal) return `\${${name}}`;
        return text(name.includes('.') ? attribute(name, path) : ref(name, path), path);
      }),
    'Fn::Select': (argument, path) => {
      const [index, from] = list(argument, path);
      const items = list(from, path);
      const item = items[Number(index)];
      return item === undefined ? refuse(path, `Fn::Select asks for item ${index} of ${items.length}`) : item;
    },
    'Fn::Join': (argument, path) => {
      const [separator, parts] = list(argument, path);
      return list(parts, path)
        .map((part) => text(part, path))
        .join(text(separator, path));
    },
    'Fn::Split': (argument, path) => {
      const [separator, from] = list(argument, path);
      return text(from, path).split(text(separator, path));
    },
    'Fn::If': (argument, path) => {
      const [name, yes, no] = argument as readonly unknown[];
      return resolve(condition(String(name)) ? yes : no, path);
    },
    'Fn::Equals': (argument, path) => {
      const [one, other] = list(argument, path);
      return text(one, path) === text(other, path);
    },
    'Fn::And': (argument, path) => (argument as readonly unknown[]).every((part) => decide(part, path)),
    'Fn::Or': (argument, path) => (argument as readonly unknown[]).some((part) => decide(part, path)),
    'Fn::Not': (argument, path) => !decide((argument as readonly unknown[])[0], path),
  };

  function text(value: unknown, path: string): string {
    const resolved = resolve(value, path);
    if (resolved === noValue || typeof resolved === 'object') refuse(path, 'a text is needed here');
    return String(resolved);
  }

  function list(value: unknown, path: string): readonly unknown[] {
    const resolved = resolve(value, path);
    return Array.isArray(resolved) ? resolved : refuse(path, 'a list is needed here');
  }

  function decide(value: unknown, path: string): boolean {
    const { Condition } = value as Fields;
    return Condition === undefined ? resolve(value, path) === true : condition(String(Condition));
  }

  function condition(name: string): boolean {
    const path = `Conditions.${name}`;
    const known = conditions.get(name);
    if (typeof known === 'boolean') return known;
    if (known) refuse(path, 'the condition depends on itself');
    const expression = template.Conditions?.[name] ?? refuse(path, 'there is no such condition');
    conditions.set(name, 'being decided');
    const holds = decide(expression, path);
    conditions.set(name, holds);
    return holds;
  }

  function resolve(value: unknown, path: string): unknown {
    if (typeof value === 'string') return withSecrets(value, path);
    if (Array.isArray(value)) {
      return value
        .map((item, index) => resolve(item, `${path}[${index}]`))
        .filter((item) => item !== noValue);
    }
    if (typeof value !== 'object' || value === null) return value;
    const [key = '', ...others] = Object.keys(value);
    if (others.length === 0 && (key === 'Ref' || key.startsWith('Fn::'))) {
      const intrinsic = intrinsics[key] ?? refuse(path, `${key} is not supported on this machine`);
      const resolved = intrinsic((value as Fields)[key], path);
      return typeof resolved === 'string' ? withSecrets(resolved, path) : resolved;
    }
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, item]) => [name, resolve(item, `${path}.${name}`)] as const)
        .filter(([, item]) => item !== noValue),
    );
  }

  /**
   * Replaces dynamic references, `{{resolve:secretsmanager:SECRET:SecretString:KEY:…}}`.
   * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html
   */
  function withSecrets(value: string, path: string): string {
    return value.replace(/\{\{resolve:secretsmanager:([^}]*)\}\}/g, (reference, rest: string) => {
      const parts = rest.split(':');
      // An ARN has seven parts between colons, which are also the reference's separators.
      const idParts = parts[0] === 'arn' ? 7 : 1;
      const value = resources.secret(parts.slice(0, idParts).join(':'), parts[idParts + 1] || undefined);
      return value ?? refuse(path, `the secret of ${reference} is not known here`);
    });
  }

  return {
    condition,
    resolve: (value, path) => {
      const resolved = resolve(value, path);
      return resolved === noValue ? undefined : resolved;
    },
  };
}

/** The names that a piece of a template mentions through `Ref`, `Fn::GetAtt` or `Fn::Sub`: parameters too. */
export function references(value: unknown): ReadonlySet<string> {
  if (Array.isArray(value)) return new Set(value.flatMap((item) => [...references(item)]));
  if (typeof value !== 'object' || value === null) return new Set();
  const found = Object.entries(value).flatMap(([key, argument]) => {
    const [first] = [argument].flat();
    if (key === 'Ref' || key === 'Fn::GetAtt') return [String(first).split('.')[0] ?? ''];
    const named = key === 'Fn::Sub' ? [...String(first).matchAll(/\$\{([^!}.]+)[^}]*\}/g)] : [];
    return [...named.map(([, name]) => name ?? ''), ...references(argument)];
  });
  return new Set(found);
}
