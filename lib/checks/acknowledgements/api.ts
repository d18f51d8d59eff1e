import type { Method, RestApi, Stage } from 'aws-cdk-lib/aws-apigateway';
import { acknowledge, nistAndPci } from './acknowledge';

/** Acknowledges that the gateway does not validate requests. */
export function acknowledgeNoGatewayValidation(restApi: RestApi): void {
  acknowledge(
    restApi,
    ['AwsSolutions-APIG2'],
    "The function checks path, query, headers and body of every request, in the documented order and with the documented codes. The gateway's validator knows no patterns of path parameters, and would answer first, otherwise.",
  );
}

/** Acknowledges the role by which the region's API Gateway writes access logs. */
export function acknowledgeLogRole(restApi: RestApi): void {
  acknowledge(
    restApi.node.findChild('CloudWatchRole'),
    [
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    ],
    "It is the policy that API Gateway asks for (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html): the role is the account's, for the access logs of every API in the region.",
  );
}

/** Acknowledges what the rule packs find on a stage. */
export function acknowledgeStage(stage: Stage): void {
  acknowledge(
    stage,
    ['AwsSolutions-APIG6', ...nistAndPci('APIGWExecutionLoggingEnabled')],
    'Execution logs show what callers send and what the authorizer was given. The access log has who, what, when, status, latencies and the reason of a refusal for every request.',
  );
  acknowledge(
    stage,
    nistAndPci('APIGWCacheEnabledAndEncrypted'),
    'Nothing is cached: a deletion must not be, and what else is answered is one small document, made by the gateway itself or kept in memory.',
  );
  acknowledge(
    stage,
    nistAndPci('APIGWSSLEnabled'),
    'A client certificate would prove the gateway to an HTTP backend. There is none: functions are invoked through IAM.',
  );
}

/** Acknowledges that a method's tokens are the service's own, verified by its own authorizer. */
export function acknowledgeCustomTokens(method: Method): void {
  acknowledge(
    method,
    ['AwsSolutions-COG4'],
    'Access tokens are the JWTs that the service specifies, signed by the keys of the region. The authorizer of the method verifies them.',
  );
}

/** Acknowledges that a method needs no token. */
export function acknowledgePublicMethod(method: Method): void {
  acknowledge(
    method,
    ['AwsSolutions-APIG4', 'AwsSolutions-COG4'],
    'Public on purpose: it answers with one address, which receivers of webhooks need before they have any token. Firewall and throttle stand before it.',
  );
}
