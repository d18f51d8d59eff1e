import { first } from '../../support/rows';
import { type Answer, page, sentBatch, startAwsEndpoint } from '../aws-endpoint';
import { wallet } from '../region';

const key = `arn:aws:kms:${first.region}:123456789012:key/one`;
const WebhookOriginAddress = '203.0.113.7';
let aws: Awaited<ReturnType<typeof startAwsEndpoint>>;
beforeAll(async () => {
  aws = await startAwsEndpoint((url) => ({
    [first.stackId]: {
      ApiBaseUrl: `${url}/`,
      OperationsFunctionName: 'operations',
      TokenSigningKeyArn: key,
      UserActionSigningKeyArn: key,
      WebhookSecretsKeyArn: key,
      WebhookOriginAddress,
      WebhookEventsQueueUrl: `https://sqs.${first.region}.amazonaws.com/123456789012/events`,
    },
  }));
});
afterAll(() => aws.close());

const json = (body: unknown, status = 200, type = 'application/json'): Answer => ({
  status,
  headers: { 'content-type': type },
  body: JSON.stringify(body),
});
const operations: Readonly<Record<string, unknown>> = {
  seed: { organizationId: 'or-1', callerId: 'us-1', userGroupId: 'ug-1' },
  'add-webhook': { webhookId: 'wh-1', secretVersion: 1 },
  'list-delivery-attempts': { attempts: [] },
  'remove-ephemeral-organizations': { removed: ['or-1'] },
};

/** Runs `smoke` on an environment that delivers nothing, with this answer of its API. */
async function smoke(answer: Answer, ...args: string[]) {
  aws.answer(({ url, headers, body }) => {
    if (url === '/webhook-origins') return answer;
    const { operation = '' } = JSON.parse(String(body));
    if (url.includes('/invocations')) return json({ ok: true, result: operations[operation] });
    const results: Readonly<Record<string, unknown>> = {
      GenerateMac: { Mac: Buffer.alloc(32).toString('base64') },
      SendMessageBatch: sentBatch(body),
    };
    return json(results[String(headers['x-amz-target']).split('.')[1] ?? ''] ?? {});
  });
  const place = ['--outputs', aws.outputs, '--allow-production'];
  const { stdout } = await wallet('smoke', '--json', ...place, ...args);
  const steps: { name: string; outcome: string; ms: number; detail: string; remedy: string }[] =
    JSON.parse(stdout).steps;
  return (name: string) => steps.find((step) => step.name.includes(name));
}

it('does not wait again for the record of a delivery that it has waited for', async () => {
  const receiver = ['--receiver-listen', '0', '--receiver-url', 'https://tunnel.customer.com/'];
  const step = await smoke(page(200), ...receiver, '--timeout', '2s');
  const detail = 'No delivery was attempted within 2 s.';
  expect(step('receive the delivery')).toMatchObject({ outcome: 'failed', detail });
  expect(step('receive the delivery')?.ms).toBeGreaterThanOrEqual(1_950);
  expect(step('attempt recorded')).toMatchObject({ outcome: 'failed', detail });
  expect(step('attempt recorded')?.ms).toBeLessThan(1_000);
});

const due = `where 200 with {"environment":"${first.name}","addresses":["${WebhookOriginAddress}/32"]} is due.`;
const isNot = (what: string) =>
  `GET /webhook-origins was answered with ${what}, not by the API of ${first.name}, ${due}`;

it.each<[string, Answer, detail: string, remedy: RegExp]>([
  ['a captive page', page(200), isNot('200, text/html; charset=utf-8'), /^A proxy, the sign-in page /],
  ['a broken proxy', page(502), isNot('502, text/html; charset=utf-8'), /^A proxy, /],
  ['a redirect', { status: 302 }, isNot('302, no content type'), /^A proxy, /],
  ['another API', json({ hello: 1 }), isNot('200, application/json'), /another API answers for http/],
  ['another gateway', json({ message: 'Forbidden' }, 403), isNot('403, application/json'), /another API/],
  [
    "another environment's API",
    json({ environment: 'another', addresses: [] }),
    `GET /webhook-origins was answered with 200 {"environment":"another","addresses":[]}, ${due}`,
    /^Look into the logs/,
  ],
  [
    'its own gateway',
    json({ code: 'route_not_found', detail: 'No such route.' }, 404, 'application/problem+json'),
    `GET /webhook-origins was answered with 404 route_not_found: No such route., ${due}`,
    /^Look into the logs/,
  ],
])('names %s that answers GET /webhook-origins', async (_, answer, detail, remedy) => {
  const step = await smoke(answer, '--without-webhook');
  expect(step('webhook-origins')).toMatchObject({
    outcome: 'failed',
    detail,
    remedy: expect.stringMatching(remedy),
  });
});
