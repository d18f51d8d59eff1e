import { retrySchedule } from '../../domain/delivery';
import { parseEvent } from '../../domain/event';
import { nextStep } from '../../lambda/deliver-webhook/retry-schedule';
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

/** Times of the form of RFC 3339, on no calendar or clock; one without its zone; delimiters of headers and signed text; another id. */
const wrong: readonly string[] = [
  '2026-21-20T12:00:00.000Z',
  '2026-02-30T12:00:00.000Z',
  '2026-11-20T24:00:00.000Z',
  '2026-11-20T12:00:60.000Z',
  '2026-11-20T12:00:00.000+24:00',
  '2026-11-20T12:00:00.000+14:01',
  '2026-11-20T12:00:00.000-18:00',
  '0000-11-20T12:00:00.000Z',
  '2026-11-20t12:00:00.000z',
  '2026-11-20T12:00:00',
  'ev.1',
  'ev-1\n',
  'ug-aaaaa-bbbbb-cccccccccccccc',
];

it.each(Object.keys(event))('the schema accepts exactly the %s that the fan-out accepts', (field) => {
  // Almost valid: wrong case, length, alphabet or type.
  const near = [String(event[field]), '2026-11-20T12:00:00+04:00'].flatMap((text) => [
    ...[text, text.toUpperCase(), ...[64, 65, 128, 129].map((length) => text.repeat(30).slice(0, length))],
    ...Array.from(text, (_, at) => [text.slice(0, at), text + text.slice(0, at)]).flat(),
    ...Array.from(text, (_, at) =>
      [...' \n.-_:/aA0é'].map((one) => text.slice(0, at) + one + text.slice(at + 1)),
    ).flat(),
  ]);
  for (const value of [undefined, null, true, 1, [], {}, ...(field === 'data' ? [] : [...near, ...wrong])]) {
    const changed = { ...event, [field]: value };
    expect([changed, isDocumented(changed)]).toEqual([changed, parseEvent(JSON.stringify(changed)).ok]);
  }
  expect([isDocumented(event), isDocumented({ ...event, [field]: undefined })]).toEqual([true, false]);
});

it('the document states what follows each response status', () => {
  const outcomes: Record<string, string> = { '2XX': 'delivered', '410': 'disabled' };
  for (let status = 100; status < 600; status++) {
    const documented = [String(status), `${Math.floor(status / 100)}XX`].find((name) => name in responses);
    const result = { answered: true, status } as const;
    const { outcome } = nextStep(result, 1, { attemptedAt: 0, now: 0, random: 0.5, schedule: retrySchedule });
    expect([status, outcome]).toEqual([status, outcomes[documented ?? 'default'] ?? 'failed']);
  }
});
