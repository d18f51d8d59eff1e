import type { Template } from '../../domain/assembly';
import { LOCAL_ACCOUNT_ID } from './manifest';

/** Local values of a stack's resources; undefined if there is none. */
interface ResourceValues {
  /** `Ref`: the physical id. */
  ref(logicalId: string): string | undefined;
  /** `Fn::GetAtt` */
  attribute(logicalId: string, attribute: string): unknown;
  /** The value of a secret, by name or ARN. */
  secret(secretId: string): string | undefined;
}

interface TemplateContext {
  readonly stackName: string;
  readonly region: string;
  readonly template: Template;
  readonly resources: ResourceValues;
}

interface TemplateResolver {
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

/**
 * Evaluates the intrinsic functions, in the forms that the templates use.
 *
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
 */
export function createResolver(context: TemplateContext): TemplateResolver {
  const { template, region, stackName, resources } = context;
  const pseudoParameters = new Map<string, string | undefined>([
    ['AWS::AccountId', LOCAL_ACCOUNT_ID],
    ['AWS::NoValue', undefined],
    ['AWS::Partition', 'aws'],
    ['AWS::Region', region],
    ['AWS::StackId', `arn:aws:cloudformation:${region}:${LOCAL_ACCOUNT_ID}:stack/${stackName}/local`],
    ['AWS::StackName', stackName],
    ['AWS::URLSuffix', 'amazonaws.com'],
  ]);

  function refuse(path: string, problem: string): never {
    throw new Error(`${stackName}, ${path}: ${problem}`);
  }

  function ref(name: string, path: string): string | undefined {
    if (pseudoParameters.has(name)) return pseudoParameters.get(name);
    const parameter = template.Parameters?.[name];
    if (!parameter)
      return resources.ref(name) ?? refuse(path, `the resource ${name} has no local physical id`);
    if (parameter.Type === 'String' && parameter.Default !== undefined) return String(parameter.Default);
    return refuse(path, `the parameter ${name} is not a string with a default`);
  }

  /** Keyed by name; `items` are the argument's, unresolved. */
  const intrinsics: Readonly<Record<string, (items: readonly unknown[], path: string) => unknown>> = {
    Ref: ([name], path) => ref(String(name), path),
    'Fn::GetAtt': ([id, name], path) =>
      resources.attribute(String(id), String(name)) ??
      refuse(path, `the resource ${id} has no local attribute ${name}`),
    'Fn::Sub': ([source], path) =>
      String(source).replace(/\$\{([^}]*)\}/g, (found, name) =>
        String(
          pseudoParameters.get(name) ?? refuse(path, `${found} of Fn::Sub is not supported on this machine`),
        ),
      ),
    'Fn::Select': ([index, from], path) =>
      list(from, path)[Number(index)] ?? refuse(path, `Fn::Select: there is no item ${index}`),
    'Fn::Join': ([separator, parts], path) =>
      list(parts, path)
        .map((part) => text(part, path))
        .join(String(separator)),
    'Fn::Split': ([separator, from], path) => text(from, path).split(String(separator)),
    'Fn::If': ([name, yes, no], path) => resolve(condition(String(name)) ? yes : no, path),
    'Fn::Equals': ([one, other], path) => text(one, path) === text(other, path),
    'Fn::Not': ([negated], path) => {
      const value = resolve(negated, path);
      return typeof value === 'boolean' ? !value : refuse(path, 'Fn::Not expects another function');
    },
  };

  function text(value: unknown, path: string): string {
    const resolved = resolve(value, path);
    if (resolved === undefined || typeof resolved === 'object') return refuse(path, 'expected a string');
    return String(resolved);
  }

  function list(value: unknown, path: string): readonly unknown[] {
    const resolved = resolve(value, path);
    return Array.isArray(resolved) ? resolved : refuse(path, 'expected a list');
  }

  function condition(name: string): boolean {
    const path = `Conditions.${name}`;
    return resolve(template.Conditions?.[name] ?? refuse(path, 'unknown condition'), path) === true;
  }

  /** Undefined for `AWS::NoValue`, which removes an item or property. */
  function resolve(value: unknown, path: string): unknown {
    if (typeof value === 'string') return withSecrets(value, path);
    if (Array.isArray(value)) {
      const items = value.map((item, index) => resolve(item, `${path}[${index}]`));
      return items.filter((item) => item !== undefined);
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [[key, argument] = ['', undefined]] = entries;
    if (entries.length === 1 && (key === 'Ref' || key.startsWith('Fn::'))) {
      const intrinsic = intrinsics[key] ?? refuse(path, `${key} is not supported on this machine`);
      const resolved = intrinsic([argument].flat(), path);
      return typeof resolved === 'string' ? withSecrets(resolved, path) : resolved;
    }
    const fields = entries.map(([name, item]) => [name, resolve(item, `${path}.${name}`)] as const);
    return Object.fromEntries(fields.filter(([, item]) => item !== undefined));
  }

  /**
   * Replaces dynamic references to a key of a secret: `{{resolve:secretsmanager:SECRET:SecretString:KEY::}}`.
   * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html
   */
  function withSecrets(value: string, path: string): string {
    return value.replace(/\{\{resolve:([^}]*)\}\}/g, (reference, rest: string) => {
      const [, id = '', key = ''] = /^secretsmanager:(.*):SecretString:(\w+)::$/.exec(rest) ?? [];
      const secret = resources.secret(id);
      return (secret && JSON.parse(secret)[key]) ?? refuse(path, `unknown secret in ${reference}`);
    });
  }

  return { condition, resolve };
}

/** The names in the `Ref` and `Fn::GetAtt` of a part of a template: resources and parameters. */
export function references(value: unknown): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const found = Object.entries(value).flatMap(([key, argument]) =>
    key === 'Ref' || key === 'Fn::GetAtt' ? [String([argument].flat()[0])] : [...references(argument)],
  );
  return new Set(found);
}
