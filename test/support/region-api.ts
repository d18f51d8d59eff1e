import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Api } from '../../lib/api/api';
import type { Environment } from '../../lib/environment';
import { environments } from '../../lib/environments';
import { withApp } from './stacks';

type Properties = Record<string, never>;

/** An API of one environment, synthesized alone; by default of one that is not deprecated. */
export function synthesizeApi(
  differences: Partial<Environment> = {},
  webhookOriginAddress: (stack: Stack) => string = () => '203.0.113.7',
  webhookOriginReserve?: string,
) {
  const current = environments.find(({ deprecation }) => !deprecation);
  if (!current) throw new Error('There is no environment that is not deprecated.');
  const environment = { ...current, ...differences };
  return withApp((app) => {
    const stack = new Stack(app, 'Stack', { env: { region: environment.region } });
    const [authorizeRequest, deleteUserGroup] = ['AuthorizeRequest', 'DeleteUserGroup'].map(
      (id) =>
        new LambdaFunction(stack, id, {
          runtime: Runtime.NODEJS_22_X,
          handler: 'index.handler',
          code: Code.fromInline('exports.handler = () => {};'),
        }),
    ) as [LambdaFunction, LambdaFunction];
    const api = new Api(stack, 'Api', {
      environment,
      authorizeRequest,
      deleteUserGroup,
      webhookOrigin: {
        address: webhookOriginAddress(stack),
        reserve: webhookOriginReserve === undefined ? undefined : { address: webhookOriginReserve },
      },
    });
    const template = Template.fromStack(stack);

    return {
      template,
      environment,
      url: stack.resolve(api.url),
      /** The properties of every resource of a type. */
      // biome-ignore lint/suspicious/noExplicitAny: a template has no types; the assertions are what checks it.
      all: (type: string): any[] =>
        Object.values(template.findResources(type)).map(({ Properties }) => Properties as Properties),
      routes: () => routes(template),
    };
  });
}

/** `DELETE /auth/user-groups/{userGroupId}` to the properties of its method. */
function routes(template: Template): Record<string, Properties> {
  const resources = template.findResources('AWS::ApiGateway::Resource');
  const path = (id: { Ref: string } | undefined): string => {
    const resource = id && resources[id.Ref]?.Properties;
    return resource ? `${path(resource.ParentId)}/${resource.PathPart}` : '';
  };
  return Object.fromEntries(
    Object.values(template.findResources('AWS::ApiGateway::Method')).map(({ Properties }) => [
      `${Properties.HttpMethod} ${path(Properties.ResourceId)}`,
      Properties,
    ]),
  );
}

export interface FilledResponse {
  readonly type: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The gateway's own responses with the variables of their templates filled in, as the gateway does: unescaped. */
export function gatewayResponses(
  api: ReturnType<typeof synthesizeApi>,
  context: Readonly<Record<string, string>>,
): FilledResponse[] {
  return api
    .all('AWS::ApiGateway::GatewayResponse')
    .map(({ ResponseType, StatusCode, ResponseParameters, ResponseTemplates }) => ({
      type: ResponseType,
      status: Number(StatusCode),
      headers: Object.fromEntries(
        Object.entries<string>(ResponseParameters).map(([name, value]) => [
          name.replace('gatewayresponse.header.', '').toLowerCase(),
          value.replace(/^'|'$/g, ''),
        ]),
      ),
      body: ResponseTemplates['application/json'].replace(
        /\$context\.([A-Za-z.]+)/g,
        (_: string, name: string) => context[name] ?? '',
      ),
    }));
}
