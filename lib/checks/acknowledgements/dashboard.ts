import type { Method, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { acknowledge } from './acknowledge';

/** Acknowledges what the rule packs find on the dashboard's address, which is public and takes no input. */
export function acknowledgePublicPage(restApi: RestApi, page: Method): void {
  acknowledge(
    restApi,
    ['AwsSolutions-APIG2'],
    'There is nothing to validate: the answer is the same page, whatever is sent.',
  );
  acknowledge(
    page,
    ['AwsSolutions-APIG4', 'AwsSolutions-COG4'],
    'Public on purpose: the page holds public facts. Firewall and throttle stand before it.',
  );
}
