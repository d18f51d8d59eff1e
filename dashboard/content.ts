import type { DashboardFacts } from '../domain/dashboard';
import type { PastedDelivery } from './verify';

/** The environment's facts, as pairs of label and text. */
export function rows(facts: DashboardFacts): readonly (readonly [name: string, value: string])[] {
  const chains = facts.chains.join(' and ') + (facts.testFundsOnly ? ', with test funds only' : '');
  return [
    ['Region', facts.region],
    ['Data', `Stored and processed only in ${facts.residencyRegions.join(' and ')}`],
    ['Chains', `${chains}. Broadcast transactions may be processed anywhere.`],
    ['SLA', facts.serviceLevelAgreement ? 'Yes' : 'None: no commitment to availability'],
  ];
}

/** Warnings for users of the environment. */
export function warnings({ testFundsOnly, chains, deprecation }: DashboardFacts): readonly string[] {
  const mainnet = chains.includes('mainnet')
    ? ': the service cannot technically prevent you from sending funds to a mainnet chain, but doing so is against the terms of use'
    : '';
  const sunset = deprecation?.sunset ? ` It will be switched off on ${day(deprecation.sunset)}.` : '';
  return [
    ...(testFundsOnly ? [`Use test funds only${mainnet}.`] : []),
    ...(deprecation
      ? [`Deprecated since ${day(deprecation.since)}: do not build anything new on it.${sunset}`]
      : []),
  ];
}

/** `20 November 2026` */
const day = (date: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(date));

/** The test vector of docs/receivers.md. */
export const example: PastedDelivery = {
  headers: `webhook-id: msg_754ca000f5a2764af1ed0c3f41b0f81d
webhook-timestamp: 1795176005
webhook-signature: v1,6BqcZ+Hxx8l5AP0VVcgLLAmJBb3ugVJSyKBtEmdwW7A=`,
  body: '{"id":"evt_1","organizationId":"or-1a2b3-c4d5e-f6g7h8i9j0k1l2m3","kind":"wallet.created","date":"2026-11-20T12:00:00.000Z","data":{"name":"Zürich €"}}',
  secret: 'whsec_dGVzdCB2ZWN0b3I6IG5ldmVyIHNpZ24gd2l0aCBpdCE=',
};
