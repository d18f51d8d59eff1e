import { isDeepStrictEqual } from 'node:util';
import type { Target } from '../target';
import { callApi, unexpectedResponse } from './api';

/** Expects of `GET /webhook-origins` the address that the stack's output has, and no other. */
export async function expectOrigins(target: Target, signal: AbortSignal) {
  const request = { method: 'GET', path: '/webhook-origins' } as const;
  const answer = await callApi(target, request, signal);
  const { environment, addresses } = Object(answer.body) as Record<string, unknown>;
  const due = {
    environment: target.environment.name,
    addresses: [`${target.output('WebhookOriginAddress')}/32`],
  };
  if (answer.status !== 200 || !isDeepStrictEqual({ environment, addresses }, due))
    unexpectedResponse(
      target,
      request,
      answer,
      `200 with ${JSON.stringify(due)}`,
      environment !== undefined && addresses !== undefined,
    );
  return { value: due, detail: due.addresses.join(', ') };
}
