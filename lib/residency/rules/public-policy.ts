import { type NamedPlace, propertiesOf } from '../places';
import { findingAt, type Rule } from '../rule';
import { isObject, type JsonObject, objectAt } from '../template';

// The API is public by contract. A VPC endpoint's policy says what its network may reach, not who may come.
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
      if (resource.type === 'AWS::Lambda::Permission' && isOpenPermission(resource.properties)) {
        yield findingAt(resource, { location: 'Properties.Principal', value: '*' });
      }
      for (const place of propertiesOf(resource, template)) {
        yield* openStatements(place).map((statement) =>
          findingAt(resource, { location: place.location, value: statement }),
        );
      }
    }
  },
};

function openStatements({ name, value }: NamedPlace): readonly JsonObject[] {
  if (name !== 'Statement') return [];
  return [value].flat().filter(isObject).filter(isOpen);
}

function isOpen(statement: JsonObject): boolean {
  const { Effect: effect, Principal: principal, NotPrincipal: others } = statement;
  const isEverybody = others !== undefined || principals(principal).some((name) => name === '*');
  return effect === 'Allow' && isEverybody && !isNarrowed(objectAt(statement, 'Condition'));
}

function principals(principal: unknown): readonly unknown[] {
  return isObject(principal) ? [principal.AWS, principal.Federated].flat() : [principal];
}

/** All operators must hold at once, so that one is enough; one that is negated narrows nothing down. */
function isNarrowed(condition: JsonObject): boolean {
  return Object.entries(condition).some(
    ([operator, keys]) =>
      !/not|ifexists/i.test(operator) &&
      isObject(keys) &&
      Object.keys(keys).some((key) => narrowing.test(key)),
  );
}

function isOpenPermission(properties: JsonObject): boolean {
  const isNarrow = ['SourceArn', 'SourceAccount', 'PrincipalOrgID'].some(
    (name) => properties[name] !== undefined,
  );
  return properties.Principal === '*' && !isNarrow;
}
