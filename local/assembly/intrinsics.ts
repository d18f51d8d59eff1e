import { LOCAL_ACCOUNT_ID, type Template } from './manifest';

/** Local values of a stack's resources; undefined if there is none. */
export interface ResourceValues {
  /** `Ref`: the physical id. */
  ref(logicalId: string): string | undefined;
  /** `Fn::GetAtt` */
  attribute(logicalId: string, attribute: string): unknown;
  /** The value of a secret, by name or ARN. */
  secret(secretId: string): string | undefined;
}

export interface TemplateContext {
  readonly stackName: string;
  readonly region: string;
  readonly template: Template;
  readonly resources: ResourceValues;
}

export interface TemplateResolver {
  /**
   * Resolves all intrinsic functions in a part of a template.
   *
   * @param path of the part, for errors: `Resources.Api.Properties`
   * @throws Error for an unsupported function or a missing local value
   */
  resolve(value: unknown, path: string): unknown;
  /** Evaluates a condition of the template. */
  condition(name: string): boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Evaluates the intrinsic functions that the templates use.
 *
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
 */
export function createResolver({
  template,
  region,
  stackName,
  resources,
}: TemplateContext): TemplateResolver {
  const noValue = Symbol('AWS::NoValue');
  const pseudoParameters = new Map<string, unknown>([
    ['AWS::AccountId', LOCAL_ACCOUNT_ID],
    ['AWS::NoValue', noValue],
    ['AWS::Partition', 'aws'],
    ['AWS::Region', region],
    ['AWS::StackId', `arn:aws:cloudformation:${region}:${LOCAL_ACCOUNT_ID}:stack/${stackName}/local`],
    ['AWS::StackName', stackName],
    ['AWS::URLSuffix', 'amazonaws.com'],
  ]);

  function refuse(path: string, problem: string): never {
    throw new Error(`${stackName}, ${path}: ${problem}`);
  }

  function ref(name: string, path: string): unknown {
    if (pseudoParameters.has(name)) return pseudoParameters.get(name);
    const parameter = template.Parameters?.[name];
    if (!parameter)
      return resources.ref(name) ?? refuse(path, `the resource ${name} has no local physical id`);
    if (parameter.Type.includes('List'))
      refuse(path, `the parameter ${name} is a list, which is unsupported`);
    return String(parameter.Default ?? refuse(path, `the parameter ${name} has no default`));
  }

  function attribute(name: string, path: string): unknown {
    const [logicalId = '', ...rest] = name.split('.');
    const value = resources.attribute(logicalId, rest.join('.'));
    return value ?? refuse(path, `the resource ${logicalId} has no local attribute ${rest.join('.')}`);
  }

  /** Functions with unresolved arguments. */
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
      return (
        items[Number(index)] ?? refuse(path, `Fn::Select: no item ${index} in a list of ${items.length}`)
      );
    },
    'Fn::Join': (argument, path) => {
      const [separator, parts] = list(argument, path);
      const texts = list(parts, path).map((part) => text(part, path));
      return texts.join(text(separator, path));
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
    'Fn::Not': (argument, path) => {
      const [{ Condition: name } = {}] = argument as readonly Fields[];
      return name === undefined ? list(argument, path)[0] !== true : !condition(String(name));
    },
  };

  function text(value: unknown, path: string): string {
    const resolved = resolve(value, path);
    return ['object', 'symbol'].includes(typeof resolved)
      ? refuse(path, 'expected a string')
      : String(resolved);
  }

  function list(value: unknown, path: string): readonly unknown[] {
    const resolved = resolve(value, path);
    return Array.isArray(resolved) ? resolved : refuse(path, 'expected a list');
  }

  function condition(name: string): boolean {
    const path = `Conditions.${name}`;
    return resolve(template.Conditions?.[name] ?? refuse(path, 'unknown condition'), path) === true;
  }

  function resolve(value: unknown, path: string): unknown {
    if (typeof value === 'string') return withSecrets(value, path);
    if (Array.isArray(value)) {
      const items = value.map((item, index) => resolve(item, `${path}[${index}]`));
      return items.filter((item) => item !== noValue);
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [[key, argument] = ['', undefined]] = entries;
    if (entries.length === 1 && (key === 'Ref' || key.startsWith('Fn::'))) {
      const intrinsic = intrinsics[key] ?? refuse(path, `${key} is not supported on this machine`);
      const resolved = intrinsic(argument, path);
      return typeof resolved === 'string' ? withSecrets(resolved, path) : resolved;
    }
    const fields = entries.map(([name, item]) => [name, resolve(item, `${path}.${name}`)] as const);
    return Object.fromEntries(fields.filter(([, item]) => item !== noValue));
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
      const secret = resources.secret(parts.slice(0, idParts).join(':'));
      const key = parts[idParts + 1];
      const found = secret !== undefined && key ? JSON.parse(secret)[key] : secret;
      return found ?? refuse(path, `unknown secret in ${reference}`);
    });
  }

  return {
    condition,
    resolve(value, path) {
      const resolved = resolve(value, path);
      return resolved === noValue ? undefined : resolved;
    },
  };
}

/** The names in the `Ref`, `Fn::GetAtt` and `Fn::Sub` of a part of a template: resources and parameters. */
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
