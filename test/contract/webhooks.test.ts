import fc from 'fast-check';
import { parseEvent } from '../../domain/event';
import { nextStep, retrySchedule } from '../../lambda/deliver-webhook/retry-schedule';
import { expectDocumentedDelivery, openApi } from '../support/openapi';

const { parameters, requestBody, responses } = openApi.webhooks.event.post;
const headers: Record<string, string> = Object.fromEntries([
  ['content-type', 'application/json'],
  ...parameters.map((each: { name: string; example: string }) => [each.name.toLowerCase(), each.example]),
]);
const event = requestBody.content['application/json'].example;

const isDocumented = (body: unknown): boolean => {
  try {
    expectDocumentedDelivery(headers, JSON.stringify(body));
    return true;
  } catch {
    return false;
  }
};

/** Almost valid values: wrong case, length, alphabet or type. */
const nearly = (text: string) =>
  fc.oneof(
    fc.constant(text),
    fc.constant(text.toUpperCase()),
    fc.constantFrom(64, 65, 128, 129).map((length) => text.repeat(30).slice(0, length)),
    fc.nat(text.length).map((length) => text.slice(0, length)),
    fc
      .tuple(fc.nat(text.length), fc.oneof(fc.string({ maxLength: 1 }), fc.constant('a')), fc.nat(1))
      .map(([at, character, removed]) => text.slice(0, at) + character + text.slice(at + removed)),
    fc.jsonValue(),
  );

it('the schema accepts exactly the events that the fan-out accepts', () => {
  const { id, organizationId, kind, date } = event;
  const events = fc.record(
    {
      id: nearly(id),
      organizationId: nearly(organizationId),
      kind: nearly(kind),
      date: fc.oneof(nearly(date), nearly('2026-11-20T12:00:00+04:00')),
      data: fc.jsonValue(),
    },
    { noNullPrototype: true, requiredKeys: [] },
  );
  const seen = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(events, fc.constantFrom(...Object.keys(event)), (each, field) => {
      // Only one invalid field, so that each is tested alone.
      const mixed = { ...event, [field]: each[field as keyof typeof each] };
      const { ok } = parseEvent(JSON.stringify(mixed));
      seen[ok ? 'taken' : 'refused'] += 1;
      expect([mixed, isDocumented(mixed)]).toEqual([mixed, ok]);
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100);
});

it('the document lists exactly the webhook headers of a delivery', () => {
  expectDocumentedDelivery(headers, JSON.stringify(event));
  for (const name of Object.keys(headers)) {
    const { [name]: _, ...others } = headers;
    expect(() => expectDocumentedDelivery(others, JSON.stringify(event))).toThrow();
  }
  for (const change of [
    { 'webhook-signature': 'v1,short' },
    { 'webhook-timestamp': 'now' },
    { 'webhook-attempt': '1' },
  ])
    expect(() => expectDocumentedDelivery({ ...headers, ...change }, JSON.stringify(event))).toThrow(
      'webhook-',
    );
});

it('the document states what follows each response status', () => {
  const outcomes = { '2XX': 'delivered', '410': 'disabled', default: 'failed' };
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(Object.keys(outcomes)));
  for (let status = 100; status < 600; status++) {
    const documented = [String(status), `${Math.floor(status / 100)}XX`].find((name) => name in responses);
    const { outcome } = nextStep({ answered: true, status }, 1, {
      now: 0,
      random: 0.5,
      schedule: retrySchedule,
    });
    expect([status, outcome]).toEqual([status, outcomes[(documented ?? 'default') as 'default']]);
  }
});
