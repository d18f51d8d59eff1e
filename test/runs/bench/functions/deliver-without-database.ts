import { createDependencies, type Dependencies } from '../../../../lambda/deliver-webhook/dependencies';
import { createHandler } from '../../../../lambda/deliver-webhook/handler';
import { bind } from '../../../../lambda/shared/bind';
import { ok } from '../../../../lambda/shared/result';

/** The product's function with a table of webhooks in memory: all of a delivery but its two statements. */
export const handler = bind(createHandler, (): Dependencies => {
  const { ports, ...others } = createDependencies();
  const webhook = { url: process.env.RECEIVER_URL ?? '', enabled: true, secretVersion: 1 };
  return {
    ...others,
    ports: {
      ...ports,
      webhooks: {
        find: async () => ok(webhook),
        record: async () => ok(null),
        disable: async () => ok(null),
      },
    },
  };
});
