import { resolveDynamicReferences, type SecretReference } from './dynamic-references';
import type { Template } from './manifest';

/** The values of a stack's resources on this machine; undefined where there is none. */
export interface ResourceValues {
  /** What `Ref` gives: the physical id. */
  ref(logicalId: string): string | undefined;
  /** What `Fn::GetAtt` gives. */
  attribute(logicalId: string, attribute: string): unknown;
  /** The value that a `{{resolve:secretsmanager:…}}` reference stands for. */
  secret(reference: SecretReference): string | undefined;
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
   * @throws UnresolvableValue for an unknown intrinsic, reference, attribute, parameter or map key
   */
  resolve(value: unknown, path: string): unknown;
  /** Whether a condition of the template holds. */
  condition(name: string): boolean;
}

/** Something in a template that cannot be given a value on this machine. */
export class UnresolvableValue extends Error {
  override readonly name = 'UnresolvableValue';
  constructor(stackName: string, path: string, problem: string) {
    super(`${stackName}, ${path}: ${problem}`);
  }
}

/** Stands for `AWS::NoValue` while resolving; never leaves `resolve`. */
const noValue = Symbol('AWS::NoValue');

/** The letters of a region's zones, as `Fn::GetAZs` lists them. Three everywhere: more than any stack asks for. */
const zoneLetters = ['a', 'b', 'c'];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Gives CloudFormation's intrinsic functions their values on this machine.
 *
 * Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
 */
export function createResolver(context: TemplateContext): TemplateResolver {
  const { template, region, accountId, stackName, resources } = context;
  const conditions = new Map<string, boolean | 'being decided'>();

  function refuse(path: string, problem: string): never {
    throw new UnresolvableValue(stackName, path, problem);
  }

  const pseudoParameters: Readonly<Record<string, unknown>> = {
    'AWS::AccountId': accountId,
    'AWS::NoValue': noValue,
    'AWS::NotificationARNs': [],
    'AWS::Partition': 'aws',
    'AWS::Region': region,
    'AWS::StackId': `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`,
    'AWS::StackName': stackName,
    'AWS::URLSuffix': 'amazonaws.com',
  };

  function ref(name: unknown, path: string): unknown {
    if (typeof name !== 'string') refuse(path, 'Ref takes a name');
    if (name in pseudoParameters) return pseudoParameters[name];
    const parameter = template.Parameters?.[name];
    if (parameter) {
      const { Type, Default = refuse(path, `the parameter ${name} has no default`) } = parameter;
      const isList = Type.startsWith('List<') || Type === 'CommaDelimitedList';
      return isList ? String(Default).split(',') : String(Default);
    }
    return resources.ref(name) ?? refuse(path, `the resource ${name} has no physical id here`);
  }

  function getAtt(argument: unknown, path: string): unknown {
    const [logicalId, attribute] =
      typeof argument === 'string' ? splitOnce(argument, '.') : (list(argument, path) as [unknown, unknown]);
    const name = resolve(attribute, path);
    if (typeof logicalId !== 'string' || typeof name !== 'string') {
      refuse(path, 'Fn::GetAtt takes a resource and an attribute');
    }
    return (
      resources.attribute(logicalId, name) ??
      refuse(path, `the resource ${logicalId} has no attribute ${name} here`)
    );
  }

  function sub(argument: unknown, path: string): string {
    const [text, variables] = Array.isArray(argument) ? argument : [argument, {}];
    if (typeof text !== 'string') refuse(path, 'Fn::Sub takes a text');
    const values = (variables ?? {}) as Fields;
    return text.replace(/\$\{(!?)([^}]*)\}/g, (_, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      const key = name.trim();
      if (Object.hasOwn(values, key)) return textOf(values[key], `${path}.${key}`);
      return textOf(key.includes('.') ? { 'Fn::GetAtt': key } : { Ref: key }, path);
    });
  }

  function findInMap(argument: unknown, path: string): unknown {
    const [map, top, second] = list(argument, path).map((part) => textOf(part, path)) as [
      string,
      string,
      string,
    ];
    return (
      template.Mappings?.[map]?.[top]?.[second] ??
      refuse(path, `there is no ${top}.${second} in the mapping ${map}`)
    );
  }

  function select(argument: unknown, path: string): unknown {
    const [index, from] = list(argument, path);
    const items = list(resolve(from, path), path);
    const position = Number(resolve(index, path));
    if (!(position in items)) refuse(path, `Fn::Select asks for item ${position} of ${items.length}`);
    return items[position];
  }

  const booleans = (argument: unknown, path: string): boolean[] =>
    list(argument, path).map((part) => decide(part, path));

  const intrinsics: Readonly<Record<string, (argument: unknown, path: string) => unknown>> = {
    Ref: ref,
    'Fn::GetAtt': getAtt,
    'Fn::Sub': sub,
    'Fn::FindInMap': findInMap,
    'Fn::Select': select,
    'Fn::Join': (argument, path) => {
      const [separator, parts] = list(argument, path);
      return list(resolve(parts, path), path)
        .map((part) => textOf(part, path))
        .join(textOf(separator, path));
    },
    'Fn::Split': (argument, path) => {
      const [separator, text] = list(argument, path);
      return textOf(text, path).split(textOf(separator, path));
    },
    'Fn::GetAZs': (argument, path) =>
      zoneLetters.map((letter) => (textOf(argument, path) || region) + letter),
    'Fn::Base64': (argument, path) => Buffer.from(textOf(argument, path)).toString('base64'),
    'Fn::If': (argument, path) => {
      const [name, whenTrue, whenFalse] = list(argument, path);
      return resolve(condition(String(name)) ? whenTrue : whenFalse, path);
    },
    'Fn::Equals': (argument, path) => {
      const [left, right] = list(argument, path).map((part) => resolve(part, path));
      return JSON.stringify(left) === JSON.stringify(right);
    },
    'Fn::And': (argument, path) => booleans(argument, path).every(Boolean),
    'Fn::Or': (argument, path) => booleans(argument, path).some(Boolean),
    'Fn::Not': (argument, path) => !booleans(argument, path)[0],
  };

  function textOf(value: unknown, path: string): string {
    const resolved = resolve(value, path);
    if (resolved === noValue || typeof resolved === 'object') refuse(path, 'a text is needed here');
    return String(resolved);
  }

  function list(value: unknown, path: string): readonly unknown[] {
    return Array.isArray(value) ? value : refuse(path, 'a list is needed here');
  }

  function decide(value: unknown, path: string): boolean {
    const fields = value as Fields;
    return 'Condition' in fields ? condition(String(fields.Condition)) : resolve(value, path) === true;
  }

  function condition(name: string): boolean {
    const path = `Conditions.${name}`;
    const known = conditions.get(name);
    if (typeof known === 'boolean') return known;
    if (known) refuse(path, 'the condition depends on itself');
    const expression = template.Conditions?.[name];
    if (expression === undefined) refuse(path, 'there is no such condition');
    conditions.set(name, 'being decided');
    const holds = decide(expression, path);
    conditions.set(name, holds);
    return holds;
  }

  function resolve(value: unknown, path: string): unknown {
    if (Array.isArray(value)) {
      return value
        .map((item, index) => resolve(item, `${path}[${index}]`))
        .filter((item) => item !== noValue);
    }
    if (typeof value !== 'object' || value === null) return value;
    const [key, ...others] = Object.keys(value);
    if (key !== undefined && others.length === 0 && (key === 'Ref' || key.startsWith('Fn::'))) {
      const intrinsic = intrinsics[key] ?? refuse(path, `${key} is not known here`);
      return intrinsic((value as Fields)[key], path);
    }
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, item]) => [name, resolve(item, `${path}.${name}`)] as const)
        .filter(([, item]) => item !== noValue),
    );
  }

  return {
    condition,
    resolve: (value, path) => {
      const resolved = resolve(value, path);
      if (resolved === noValue) return undefined;
      return resolveDynamicReferences(
        resolved,
        (reference) =>
          resources.secret(reference) ?? refuse(path, `the secret of ${reference.text} is not known here`),
      );
    },
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
