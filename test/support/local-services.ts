import { startAwsServer } from '../../local/services/aws-server';
import { createDataApi, type DataApiOptions } from '../../local/services/data-api';
import { createKms } from '../../local/services/kms';

/** The local KMS alone. */
export async function startKms() {
  const { serve, create } = createKms();
  return { ...(await startAwsServer({ kms: serve })), create };
}

/** The local RDS Data API alone. */
export async function startDataApi(options: DataApiOptions) {
  const dataApi = createDataApi(options);
  const { url, close } = await startAwsServer({ 'rds-data': dataApi.serve });
  return {
    url,
    async close() {
      await Promise.all([close(), dataApi.close()]);
    },
  };
}
