import { createReceivers } from '../../../../lambda/deliver-webhook/receivers';

/** The product's client, for a receiver on this machine that has the certificate of a name on the internet. */
export const createTlsReceivers = () =>
  createReceivers({
    certificateAuthorities: [process.env.RECEIVER_AUTHORITY ?? ''],
    resolve: async () => ['93.184.216.34'],
    route: () => '127.0.0.1',
  });
