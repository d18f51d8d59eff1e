import { localClientSettings } from '../../cli/shell/aws';
import { startAwsServer } from '../../local/aws/aws-server';
import { createDataApi, type DataApiOptions } from '../../local/aws/rds/data-api-service';

/** Settings of an SDK client for a local service, as those of the command line. */
export const localClient = (endpoint: string) => ({
  ...localClientSettings('eu-central-1', endpoint),
  maxAttempts: 1,
});

export async function startDataApi(options: DataApiOptions) {
  const dataApi = createDataApi(options);
  const { url, close } = await startAwsServer({ 'rds-data': dataApi.serve });
  return { url, close: () => Promise.all([close(), dataApi.close()]) };
}
