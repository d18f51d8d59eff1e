import type { LambdaIntegration, MethodModel, MockIntegration, MockResponse } from './model';
import { type Entry, type Fields, fields, functionArnOf } from './resource-entry';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const DEFAULT_TIMEOUT_MS = 29_000;

/** The parts of the Velocity template language beyond a plain variable: none of them is rendered here. */
const TEMPLATE_LANGUAGE = /\$!?\{|\$!?input\b|\$!?util\b|#(?:set|if|elseif|else|foreach|end|macro)\b/;

/** @throws Error for an integration other than Lambda proxy and MOCK, and for templates that need an engine. */
export function readIntegration(method: Entry): MethodModel['integration'] {
  const integration = fields(method.Integration);
  if (integration.Type === 'AWS_PROXY') return readLambda(method.logicalId, integration);
  if (integration.Type === 'MOCK') return readMock(method, integration);
  throw new Error(
    `${method.logicalId}: integrations of type ${integration.Type} are not served on this machine`,
  );
}

function readLambda(logicalId: string, integration: Fields): LambdaIntegration {
  return {
    type: 'AWS_PROXY',
    functionArn: functionArnOf(logicalId, integration.Uri),
    timeoutMs: Number(integration.TimeoutInMillis ?? DEFAULT_TIMEOUT_MS),
  };
}

function readMock(method: Entry, integration: Fields): MockIntegration {
  const responses = (integration.IntegrationResponses as Record<string, unknown>[] | undefined) ?? [];
  const declared = (method.MethodResponses as { StatusCode: unknown }[] | undefined) ?? [];
  const requestTemplates = fields(integration.RequestTemplates) as Record<string, string>;
  for (const template of Object.values(requestTemplates)) refuseTemplateLanguage(method.logicalId, template);
  return {
    type: 'MOCK',
    requestTemplates,
    passthrough: (integration.PassthroughBehavior as MockIntegration['passthrough']) ?? 'WHEN_NO_MATCH',
    responses: responses.map((response) => readMockResponse(method.logicalId, response)),
    declaredStatusCodes: declared.map(({ StatusCode }) => String(StatusCode)),
  };
}

function readMockResponse(logicalId: string, response: Fields): MockResponse {
  const templates = fields(response.ResponseTemplates) as Record<string, string>;
  for (const template of Object.values(templates)) refuseTemplateLanguage(logicalId, template);
  return {
    statusCode: String(response.StatusCode),
    ...(response.SelectionPattern ? { selection: new RegExp(`^(?:${response.SelectionPattern})$`) } : {}),
    headers: Object.fromEntries(
      Object.entries(fields(response.ResponseParameters)).map(([name, expression]) => [
        name.replace(/^method\.response\.header\./, ''),
        String(expression),
      ]),
    ),
    templates,
  };
}

/** A template that would come out otherwise here than at AWS must not pass unnoticed. */
export function refuseTemplateLanguage(logicalId: string, template: string): void {
  const found = TEMPLATE_LANGUAGE.exec(template)?.[0];
  if (found)
    throw new Error(`${logicalId}: a template uses ${found}, only plain variables are rendered here`);
}
