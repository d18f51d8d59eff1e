import { isDeepStrictEqual } from 'node:util';
import { callApi, unexpectedResponse } from '../api';
import type { Target } from '../target';

/** Expects of `GET /webhook-origins` the address and the reserve that the stack's outputs have, and no others. */
export async function expectOrigins(target: Target, signal: AbortSignal) {
  const kept = target.optionalOutput('WebhookOriginReserveAddress');
  const due = {
    environment: target.environment.name,
    addresses: [`${target.output('WebhookOriginAddress')}/32`],
    ...(kept && { reserve: [`${kept}/32`] }),
  };
  const request = { method: 'GET', path: '/webhook-origins' } as const;
  const answer = await callApi(target, request, signal);
  const { environment, addresses, reserve } = Object(answer.body);
  const told = { environment, addresses, ...(reserve !== undefined && { reserve }) };
  if (answer.status !== 200 || !isDeepStrictEqual(told, due)) {
    const isOurs = environment !== undefined && addresses !== undefined;
    unexpectedResponse(target, request, answer, `200 with ${JSON.stringify(due)}`, isOurs);
  }
  return { value: due, detail: [...due.addresses, ...(kept ? [`reserve ${kept}/32`] : [])].join(', ') };
}
