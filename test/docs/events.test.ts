import { parseEvent } from '../../domain/event';
import { readDocuments } from '../support/documents';
import { withSla } from '../support/rows';
import { stackOf } from '../support/stacks';

const text = readDocuments().find(({ path }) => path === 'docs/events.md')?.text ?? '';
const [event = '', grant = ''] = Array.from(text.matchAll(/```json\n(.+)\n```/g), ([, json]) => json);

it("the page's example event is accepted, and has the members in the table", () => {
  expect(parseEvent(event)).toMatchObject({ ok: true });
  const members = Array.from(text.matchAll(/^\| `(\w+)` \|/gm), ([, name]) => name);
  expect(members).toEqual(Object.keys(JSON.parse(event)));
});

it('a producer needs only the grant: SQS encrypts the queue, and its policy only denies', () => {
  const template = stackOf(withSla);
  const queue = template.get(template.json.Outputs.WebhookEventsQueueUrl.Value.Ref);
  expect(JSON.parse(grant).Resource).toContain(`-${queue.logicalId}-`);
  expect(queue.Properties).toMatchObject({ SqsManagedSseEnabled: true });
  const policies = template
    .all('AWS::SQS::QueuePolicy')
    .filter(({ Properties }) =>
      Properties.Queues.some(({ Ref }: { Ref: string }) => Ref === queue.logicalId),
    );
  expect(policies.flatMap(({ Properties }) => Properties.PolicyDocument.Statement)).toEqual([
    expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
  ]);
});
