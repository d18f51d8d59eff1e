import type { LoopbackServer } from '../../local/network/loopback-server';
import { startAwsServer } from '../../local/services/aws-server';
import { createDataApi, type DataApiOptions } from '../../local/services/data-api';
import { createKms, type Kms } from '../../local/services/kms';

/** The local KMS alone. */
export async function startKms(): Promise<LoopbackServer & Pick<Kms, 'create'>> {
  const kms = createKms();
  return { ...(await startAwsServer({ kms: kms.serve })), create: kms.create };
}

/** The local RDS Data API alone. */
export async function startDataApi(options: DataApiOptions): Promise<LoopbackServer> {
  const dataApi = createDataApi(options);
  const { url, close } = await startAwsServer({ 'rds-data': dataApi.serve });
  return {
    url,
    async close() {
      await Promise.all([close(), dataApi.close()]);
    },
  };
}
