import { ServiceQuotas } from '@aws-sdk/client-service-quotas';
import { clientSettings } from '../../shell/aws';

/** The only one. https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/Welcome.html */
const endpoint = 'https://freetier.us-east-1.api.aws';
const region = 'us-east-1';

/**
 * The one call of the Free Tier API that we need, in AWS JSON 1.0, by the client of a service that speaks AWS JSON 1.1.
 * https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_freetier_GetAccountPlanState.html
 */
export class FreeTier {
  readonly config = { serviceId: 'FreeTier' };
  private readonly client = new ServiceQuotas({
    ...clientSettings(region),
    ...this.config,
    endpointProvider: ({ Endpoint = endpoint }) => ({
      url: new URL(String(Endpoint)),
      properties: {
        authSchemes: [{ name: 'sigv4', signingName: 'freetier', signingRegion: region, properties: {} }],
      },
    }),
  });

  async getAccountPlanState(_: object, options: object): Promise<{ readonly accountPlanType?: string }> {
    let body = '';
    this.client.middlewareStack.add(
      (next) => async (sent) => {
        Object.assign(Object(sent.request).headers, {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': 'AWSFreeTierService.GetAccountPlanState',
        });
        return next(sent);
      },
      { step: 'build' },
    );
    this.client.middlewareStack.add(
      (next) => async (sent) => {
        const received = await next(sent);
        const response = Object(received.response);
        body = await new Response(response.body).text();
        response.body = Buffer.from(body);
        return received;
      },
      { step: 'deserialize', priority: 'low' },
    );
    await this.client.listServices({}, options);
    return JSON.parse(body);
  }
}
