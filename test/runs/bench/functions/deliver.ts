import { ok } from '../../../../domain/result';
import { createDependencies, createHandler } from '../../../../lambda/deliver-webhook/handler';
import { bind } from '../../../../lambda/shared/bind';
import { createTlsReceivers } from './receivers';

/** In memory: all of a delivery but its two statements. */
const withoutDatabase = {
  find: async () =>
    ok({ url: process.env.RECEIVER_URL ?? '', enabled: true, troubled: false, secretVersion: 1 }),
  trouble: async () => ok(null),
  record: async () => ok(null),
  disable: async () => ok(undefined),
};

/** The product's function, which trusts the receiver's authority. `DELIVER_DATABASE=none`: with a table in memory. */
export const handler = bind(createHandler, () => {
  const { ports, ...others } = createDependencies();
  const webhooks = process.env.DELIVER_DATABASE === 'none' ? withoutDatabase : ports.webhooks;
  return { ...others, ports: { ...ports, webhooks, receivers: createTlsReceivers() }, log: ports.log };
});
