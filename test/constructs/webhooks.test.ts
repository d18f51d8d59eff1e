import { oneOfEachAccess } from '../support/rows';
import { type StackTemplate, stackOf } from '../support/stacks';

/** `function action resource` for each permission on the queues and the key. */
const permissionsOf = (stack: StackTemplate) =>
  stack.all('AWS::Lambda::Function').flatMap((lambda) =>
    stack.statementsOf(lambda).flatMap(({ Action, Resource }) =>
      [Resource].flat().flatMap((resource) => {
        const id: string = resource['Fn::GetAtt']?.[0] ?? '';
        const name = lambda.logicalId.replace(/^(Webhooks|Probe)|[0-9A-F]{8}$/g, '');
        return /^Webhook\w+(Queue|Key)$/.test(id)
          ? [Action].flat().map((action) => `${name} ${action} ${id}`)
          : [];
      }),
    ),
  );

const each = oneOfEachAccess.map((row) => [row.databaseAccess, stackOf(row)] as const);

describe.each(each)('the webhooks of a stack with database access %s', (_, stack) => {
  const consumers = stack.all('AWS::Lambda::EventSourceMapping').map((mapping) => ({
    mapping,
    queue: stack.get(mapping.Properties.EventSourceArn['Fn::GetAtt'][0]),
    lambda: stack.get(mapping.Properties.FunctionName.Ref),
  }));

  it('consume both queues only while the origin is attached, and after its routes exist', () => {
    const routes = stack
      .all('AWS::EC2::Route')
      .filter(({ Properties }) => 'NatGatewayId' in Properties)
      .map(({ logicalId }) => ({ Ref: logicalId }));
    expect([routes.length, consumers.length]).toEqual([stack.environment.zones.length, 3]);
    const ifAttached = (yes: unknown, no: unknown) => ({ 'Fn::If': ['WebhookOriginIsAttached', yes, no] });
    for (const { mapping, queue, lambda } of consumers) {
      const throughOrigin = JSON.stringify(lambda.Properties.VpcConfig ?? '').includes('PrivateSubnet');
      const { logicalId } = queue;
      if (logicalId !== 'WebhookEventsQueue') expect([logicalId, throughOrigin]).toEqual([logicalId, true]);
      const { Properties, Metadata, Condition } = mapping;
      expect([logicalId, Properties.Enabled, Metadata?.After, Condition]).toEqual([
        logicalId,
        ...(throughOrigin
          ? [ifAttached(true, false), ifAttached(expect.arrayContaining(routes), { Ref: 'AWS::NoValue' })]
          : [undefined, undefined]),
        undefined,
      ]);
    }
  });

  it("allow the delivery function outbound traffic to receivers' ports only", () => {
    const group = stack.named('AWS::EC2::SecurityGroup', 'WebhooksEgress').Properties;
    const ports = group.SecurityGroupEgress.map(({ FromPort, ToPort }: Record<string, number>) => [
      FromPort,
      ToPort,
    ]);
    expect(ports).toEqual([
      [443, 443],
      [1024, 65_535],
    ]);
  });

  it('let each function use its own queues, and only delivery the secrets key', () => {
    const consume = (name: string, queue: string) =>
      ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'].map(
        (action) => `${name} sqs:${action} ${queue}`,
      );
    expect(permissionsOf(stack).sort()).toEqual(
      [
        ...consume('FanOutEvent', 'WebhookEventsQueue'),
        'FanOutEvent sqs:SendMessage WebhookEventsDeadLetterQueue',
        'FanOutEvent sqs:SendMessage WebhookDeliveryQueue',
        'FanOutEvent sqs:SendMessage WebhookRetryQueue',
        ...consume('DeliverWebhook', 'WebhookDeliveryQueue'),
        ...consume('DeliverWebhook', 'WebhookRetryQueue'),
        'DeliverWebhook sqs:SendMessage WebhookRetryQueue',
        'DeliverWebhook sqs:SendMessage WebhookDeliveryDeadLetterQueue',
        'DeliverWebhook sqs:SendMessage WebhookEventsQueue',
        'DeliverWebhook kms:GenerateMac WebhookSecretsKey',
        'CheckDelivery kms:GenerateMac WebhookSecretsKey',
        'ProbeWebhooks sqs:SendMessage WebhookEventsQueue',
      ].sort(),
    );
    expect(stack.text).not.toContain('WEBHOOK_LOCAL_RECEIVERS');
  });
});
