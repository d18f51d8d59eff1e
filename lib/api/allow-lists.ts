import type { Resource } from 'aws-cdk-lib/aws-apigateway';
import { allowListFormatNames, formatAllowList, formatMediaType } from '../../cli/allow-lists/formats';
import { acknowledgePublicMethod } from '../checks/acknowledgements/api';
import { problemTemplate } from './problem';
import { addStaticMethod } from './static-method';
import { originsCaching, type WebhookOriginsProps } from './webhook-origins';

/**
 * `GET /webhook-origins/{format}`: the addresses as an allow-list, as `wallet origins --format` prints it with the usual
 * port and name. The gateway answers itself.
 *
 * @param resource the one with the path parameter `format`
 */
export function addAllowLists(resource: Resource, props: WebhookOriginsProps): void {
  const method = addStaticMethod(resource, 'GET', {
    operationName: 'getAllowList',
    statusCode: '200',
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      'Cache-Control': originsCaching,
      ...props.headers,
    },
    body: template(props),
  });
  acknowledgePublicMethod(method);
}

/**
 * All lists in one mapping template: sixteen resources with a method each would be a seventh of the stack. Nothing that
 * a caller writes gets into an answer. The CDK's own answer to preflights does the same with a mock integration: it reads
 * the request by `$input.params` and sets a header by `$context.responseOverride`
 * (https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/aws-apigateway/lib/resource.ts).
 * An override may be applied once only, hence the variables:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-override-request-response-parameters.html
 *
 * Directives stand in a line with the text: what line breaks beside them do differs between versions of Velocity.
 */
function template({
  environment: { name, region, deprecation },
  address,
  reserve,
}: WebhookOriginsProps): string {
  // The stack's reference is in the template once, and the lists name the variable.
  const origin = {
    environment: name,
    region,
    address: reference('address'),
    ...(reserve && { reserve: reference('reserve') }),
    ...(deprecation && { deprecation }),
  };
  const lists = allowListFormatNames.map((format, index) => {
    const text = `${formatAllowList(format, [origin])}\n`;
    return `#${index === 0 ? 'if' : 'elseif'}($format == '${format}')${set('type', formatMediaType(text))}${literal(text)}`;
  });
  return [
    set('hash', '#'),
    set('dollar', '$'),
    set('address', address),
    reserve ? set('reserve', reserve) : '',
    set('caching', originsCaching),
    "#set($status = 200)#set($format = $input.params('format'))",
    ...lists,
    `#else#set($status = 404)${set('type', 'application/problem+json')}${set('caching', 'no-store')}`,
    problemTemplate({
      status: 404,
      code: 'format_not_found',
      title: 'Format not found',
      detail: `There is no allow-list in this format. The formats are ${allowListFormatNames.join(', ')}.`,
      members: { formats: allowListFormatNames },
    }),
    '#end',
    '#set($context.responseOverride.status = $status)',
    '#set($context.responseOverride.header.Content-Type = $type)',
    '#set($context.responseOverride.header.Cache-Control = $caching)',
  ].join('');
}

/** Between single quotes nothing is interpreted: https://velocity.apache.org/engine/1.7/user-guide.html#literals */
const set = (variable: string, value: string) => `#set($${variable} = '${value}')`;

const reference = (variable: string) => `\${${variable}}`;

/** Text whose signs of the template language, but for the references above, are taken as they are. */
const literal = (text: string) =>
  text.replace(/#|\$(?!\{(?:address|reserve)\})/g, (sign) => reference(sign === '#' ? 'hash' : 'dollar'));
