import { createDependencies, createHandler } from '../../../lambda/deliver-webhook/handler';
import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import { bind } from '../../../lambda/shared/bind';
import type { ScaledClock } from './settings';

/** The product's function with the product's dependencies, by a shorter clock. */
export const handler = bind(createHandler, () => {
  const { ports, ...others } = createDependencies();
  const { schedule, connectTimeout, timeout } = JSON.parse(process.env.STORM_CLOCK ?? '') as ScaledClock;
  const receivers = createReceivers({ allowLocal: true, connectTimeout, timeout });
  return { ...others, ports: { ...ports, schedule, receivers }, log: ports.log };
});
