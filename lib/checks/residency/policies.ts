import { entriesWithin, isObject, type JsonObject, objectAt, type Rule, type Template } from './template';
import { possibleTexts, valuesAt } from './texts';

/** A VPC endpoint's policy limits what its network may reach: everybody is the network. */
const exempt = 'AWS::EC2::VPCEndpoint';

/**
 * Keys of conditions that narrow everybody down to an account, an organization, a network or one resource. Not `aws:SourceIp`:
 * an address is nobody's for ever, and calls by way of AWS services have others.
 */
const narrowing =
  /^(aws:(source(arn|account|orgid|orgpaths|vpc|vpce|vpcarn)|principal(arn|account|orgid|orgpaths))|kms:calleraccount)$/i;

/** Policies of resources that let everybody in. */
export const publicPolicy: Rule = {
  id: 'public-policy',
  refuses: 'A policy that allows everybody',
  remedy: 'Name the principals, or narrow them down by account, organization, network or source ARN.',
  *find(template) {
    for (const { logicalId, type, properties } of template.resources) {
      if (type === exempt) continue;
      if (type === 'AWS::Lambda::Permission' && isOpenPermission(properties, template)) {
        yield { logicalId, location: 'Properties.Principal', value: '*' };
      }
      for (const { location, name, value } of entriesWithin({ location: 'Properties', value: properties })) {
        // A document as a text would not be read.
        if (/^(\w*PolicyDocument|KeyPolicy|ResourcePolicy)$/.test(name) && !isObject(value)) {
          yield { logicalId, location, value };
        }
        if (name !== 'Statement') continue;
        for (const statement of valuesAt({ location, value }, '*')) {
          if (isObject(statement.value) && isOpen(statement.value, template)) {
            yield { logicalId, ...statement };
          }
        }
      }
    }
  },
};

function isOpen(statement: JsonObject, template: Template): boolean {
  const { Effect: effect, Principal: principal, NotPrincipal: others } = statement;
  const principals = isObject(principal) ? [principal.AWS, principal.Federated].flat() : [principal];
  const isEverybody = others !== undefined || principals.includes('*');
  return effect === 'Allow' && isEverybody && !isNarrowed(objectAt(statement, 'Condition'), template);
}

/** Operators that hold only when the key is there and has one of the values. */
const comparing = /^(ForAnyValue:)?(StringEquals|StringEqualsIgnoreCase|StringLike|ArnEquals|ArnLike)$/i;

/** All operators must hold at once, so that one is enough. */
const isNarrowed = (condition: JsonObject, template: Template): boolean =>
  Object.entries(condition)
    .filter(([operator]) => comparing.test(operator))
    .flatMap(([, keys]) => Object.entries(isObject(keys) ? keys : {}))
    .some(([key, values]) => narrowing.test(key) && isNarrow(values, template));

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

const isOpenPermission = (properties: JsonObject, template: Template): boolean =>
  properties.Principal === '*' &&
  !['SourceArn', 'SourceAccount', 'PrincipalOrgID'].some(
    (name) => properties[name] !== undefined && isNarrow(properties[name], template),
  );
