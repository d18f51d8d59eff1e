import { collect } from '../../pages';
import { CallFailed } from '../call';
import { type Check, notAsked, ok, warning } from '../check';

/**
 * What goes wrong in the region now, of any service: which of them the stack would suffer from is for people to tell.
 * https://docs.aws.amazon.com/health/latest/APIReference/API_DescribeEvents.html
 */
export const health: Check = {
  id: 'health',
  title: 'open issues in AWS Health',
  scope: 'stack',
  async ask({ stack: { region }, clientSettings, call }) {
    const { HealthClient, paginateDescribeEvents } = await import('@aws-sdk/client-health');
    // Health answers for all regions from this one: https://docs.aws.amazon.com/health/latest/ug/health-api.html
    const client = new HealthClient({ ...clientSettings, region: 'us-east-1' });
    const filter = {
      regions: [region],
      eventStatusCodes: ['open' as const],
      eventTypeCategories: ['issue' as const],
    };
    try {
      const events = await call('health:DescribeEvents', (options) =>
        collect(paginateDescribeEvents({ client }, { filter }, options), (page) => page.events),
      );
      if (events.length === 0) return ok(`none in ${region}`);
      const issues = events.map(
        ({ service, eventTypeCode, startTime }) =>
          `${service} ${eventTypeCode} since ${startTime?.toISOString() ?? 'an unknown time'}`,
      );
      return warning(
        issues.join(', '),
        'Read https://health.aws.amazon.com/health/home. Wait if it concerns the stack, unless this deployment is the repair.',
      );
    } catch (error) {
      if (!(error instanceof CallFailed) || error.errorName !== 'SubscriptionRequiredException') throw error;
      return notAsked('AWS Health answers accounts with a Business support plan or more alone');
    }
  },
};
