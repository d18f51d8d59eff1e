import { isDeepStrictEqual } from 'node:util';
import type { Target } from '../target';
import { callApi, unexpectedResponse } from './api';

/**
 * Expects of `GET /webhook-origins`, and of the allow-lists beside it, the address and the reserve that the stack's
 * outputs have, and no others.
 */
export async function expectOrigins(target: Target, signal: AbortSignal) {
  const kept = target.optionalOutput('WebhookOriginReserveAddress');
  const due = {
    environment: target.environment.name,
    addresses: [`${target.output('WebhookOriginAddress')}/32`],
    ...(kept && { reserve: [`${kept}/32`] }),
  };
  for (const path of ['/webhook-origins', '/webhook-origins/json']) {
    const request = { method: 'GET', path } as const;
    const answer = await callApi(target, request, signal);
    // The allow-list has one environment.
    const { environment, addresses, reserve } = Object([answer.body].flat()[0]) as Record<string, unknown>;
    const told = { environment, addresses, ...(reserve !== undefined && { reserve }) };
    if (answer.status === 200 && isDeepStrictEqual(told, due)) continue;
    const isOurs = environment !== undefined && addresses !== undefined;
    unexpectedResponse(target, request, answer, `200 with ${JSON.stringify(due)}`, isOurs);
  }
  return { value: due, detail: [...due.addresses, ...(kept ? [`reserve ${kept}/32`] : [])].join(', ') };
}
