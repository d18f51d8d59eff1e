import { type NamedValue, propertiesOf } from '../located-values';
import { findingAt, type Rule } from '../rule';
import { isObject, type JsonObject, objectAt, type Template } from '../template';
import { possibleTexts } from '../text';

// The API is public by contract. A VPC endpoint's policy limits what its network may reach.
const exempt = ['AWS::ApiGateway::RestApi', 'AWS::EC2::VPCEndpoint'];

/** Keys of conditions that narrow everybody down to an account, an organization, a network or one resource. */
const narrowing =
  /^(aws:(source(arn|account|orgid|orgpaths|vpc|vpce|vpcarn)|principal(arn|account|orgid|orgpaths))|kms:calleraccount)$/i;

/** Policies of resources that let everybody in. */
export const publicPolicy: Rule = {
  id: 'public-policy',
  refuses: 'A policy that allows everybody',
  remedy: 'Name the principals, or narrow them down by account, organization, network or source ARN.',
  *find(template) {
    for (const resource of template.resources) {
      if (exempt.includes(resource.type)) continue;
      if (resource.type === 'AWS::Lambda::Permission' && isOpenPermission(resource.properties, template)) {
        yield findingAt(resource, { location: 'Properties.Principal', value: '*' });
      }
      for (const place of propertiesOf(resource, template)) {
        yield* openStatements(place, template).map((statement) =>
          findingAt(resource, { location: place.location, value: statement }),
        );
      }
    }
  },
};

function openStatements({ name, value }: NamedValue, template: Template): readonly JsonObject[] {
  if (name !== 'Statement') return [];
  return [value]
    .flat()
    .filter(isObject)
    .filter((statement) => isOpen(statement, template));
}

function isOpen(statement: JsonObject, template: Template): boolean {
  const { Effect: effect, Principal: principal, NotPrincipal: others } = statement;
  const isEverybody = others !== undefined || principals(principal).some((name) => name === '*');
  return effect === 'Allow' && isEverybody && !isNarrowed(objectAt(statement, 'Condition'), template);
}

function principals(principal: unknown): readonly unknown[] {
  return isObject(principal) ? [principal.AWS, principal.Federated].flat() : [principal];
}

/** Operators that hold only when the key is there and has one of the values. */
const comparing = /^(ForAnyValue:)?(StringEquals|StringEqualsIgnoreCase|StringLike|ArnEquals|ArnLike)$/i;

/** All operators must hold at once, so that one is enough. */
function isNarrowed(condition: JsonObject, template: Template): boolean {
  return Object.entries(condition).some(
    ([operator, keys]) =>
      comparing.test(operator) &&
      isObject(keys) &&
      Object.entries(keys).some(([key, values]) => narrowing.test(key) && isNarrow(values, template)),
  );
}

function isNarrow(values: unknown, template: Template): boolean {
  const texts = [values].flat().flatMap((value) => possibleTexts(value, template));
  return texts.length > 0 && texts.every(isNarrowText);
}

/** An ARN of one account, or of a resource whose name tells it; anything else that is not made of wildcards. */
function isNarrowText(text: string): boolean {
  const [prefix, , , , account = '', ...resource] = text.split(':');
  const name = prefix === 'arn' ? account || resource.join(':') : text;
  // Wildcards may follow what is named: `o-a1b2c3/*`, `bucket/*`.
  return /^[^*?]+(\/|$)/.test(name);
}

function isOpenPermission(properties: JsonObject, template: Template): boolean {
  const isNarrowed = ['SourceArn', 'SourceAccount', 'PrincipalOrgID'].some(
    (name) => properties[name] !== undefined && isNarrow(properties[name], template),
  );
  return properties.Principal === '*' && !isNarrowed;
}
