import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Api } from '../api/api';
import type { RouteFunctions } from '../api/routes';
import type { Dashboard } from '../dashboard/dashboard';
import type { Environment } from '../environment/schema';
import type { HandlerFunction } from '../functions/handler-function';
import type { WebhookOrigin } from '../network/webhook-origin';
import type { Webhooks } from '../webhooks/webhooks';
import type { BackupEventsProps } from './backup-events';

/** What is watched in a region that serves. */
export interface Watched {
  readonly environment: Environment & Required<Pick<Environment, 'objective'>>;
  readonly api: Api;
  readonly dashboard: Dashboard;
  readonly authorizeRequest: HandlerFunction;
  readonly routeFunctions: RouteFunctions;
  readonly runOperation: HandlerFunction;
  readonly clusterIdentifier: string;
  readonly backups: Pick<BackupEventsProps, 'vaultArn' | 'drillArn'> & { readonly vaultName: string };
  readonly webhooks: Webhooks;
  /** Sends a webhook to the environment itself, every `probeMinutes`. */
  readonly probe: LambdaFunction;
  readonly webhookOrigin: WebhookOrigin;
}
