import {
  type Method,
  type MethodOptions,
  MockIntegration,
  PassthroughBehavior,
  type Resource,
} from 'aws-cdk-lib/aws-apigateway';
import { staticValues } from './gateway-responses';

export interface StaticMethodProps extends Required<Pick<MethodOptions, 'operationName'>> {
  readonly statusCode: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. @default - no body */
  readonly body?: string;
}

/** Adds a method that the gateway answers itself, always alike and without a function. */
export function addStaticMethod(resource: Resource, httpMethod: string, props: StaticMethodProps): Method {
  const { operationName, statusCode, headers, body } = props;
  const parameters = Object.entries(staticValues(headers)).map(
    ([name, value]) => [`method.response.header.${name}`, value] as const,
  );
  const integration = new MockIntegration({
    requestTemplates: { 'application/json': `{"statusCode": ${statusCode}}` },
    passthroughBehavior: PassthroughBehavior.NEVER,
    integrationResponses: [
      {
        statusCode,
        responseParameters: Object.fromEntries(parameters),
        ...(body !== undefined && { responseTemplates: { 'application/json': body } }),
      },
    ],
  });
  return resource.addMethod(httpMethod, integration, {
    operationName,
    methodResponses: [
      { statusCode, responseParameters: Object.fromEntries(parameters.map(([name]) => [name, true])) },
    ],
  });
}
