import { type StackTemplate, synthesizeStacks } from '../support/stacks';

const each = Object.values(synthesizeStacks()).map((stack) => [stack.environment.name, stack] as const);

const functionOf = (stack: StackTemplate, name: string) =>
  stack.named('AWS::Lambda::Function', `Webhooks${name}`);

/** `function action resource` for each permission on the queues and the key. */
const permissionsOf = (stack: StackTemplate) =>
  ['FanOutEvent', 'DeliverWebhook', 'PurgeExpired'].flatMap((name) =>
    stack.statementsOf(functionOf(stack, name)).flatMap(({ Action, Resource }) =>
      [Resource].flat().flatMap((resource) => {
        const id: string = resource['Fn::GetAtt']?.[0] ?? '';
        return /^Webhook\w+(Queue|Key)$/.test(id)
          ? [Action].flat().map((action) => `${name} ${action} ${id}`)
          : [];
      }),
    ),
  );

describe.each(each)('the webhooks of %s', (_, stack) => {
  const consumers = stack.all('AWS::Lambda::EventSourceMapping').map((mapping) => ({
    mapping,
    queue: stack.get(mapping.Properties.EventSourceArn['Fn::GetAtt'][0]),
    lambda: stack.get(mapping.Properties.FunctionName.Ref),
  }));

  it('have a consumer for each queue, with a visibility timeout well above its function timeout', () => {
    expect(consumers.map(({ queue }) => queue.logicalId).sort()).toEqual([
      'WebhookDeliveryQueue',
      'WebhookEventsQueue',
      'WebhookRetryQueue',
    ]);
    for (const { queue, lambda, mapping } of consumers) {
      expect(queue.Properties.VisibilityTimeout).toBe(6 * lambda.Properties.Timeout);
      expect(mapping.Properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      // On the function, a limit would make throttled attempts count as receives.
      expect(mapping.Properties.ScalingConfig.MaximumConcurrency).toBeGreaterThan(1);
      expect(lambda.Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    }
  });

  it('keep messages for 14 days, and leave room for the reason in dead letters', () => {
    for (const { queue } of consumers) {
      const { RedrivePolicy, MaximumMessageSize, MessageRetentionPeriod } = queue.Properties;
      const dead = stack.get(RedrivePolicy.deadLetterTargetArn['Fn::GetAtt'][0]).Properties;
      expect(dead.MaximumMessageSize).toBeGreaterThanOrEqual(MaximumMessageSize + 1_024);
      expect([MessageRetentionPeriod, dead.MessageRetentionPeriod]).toEqual([1_209_600, 1_209_600]);
    }
  });

  it('consume both lanes only while the origin is attached, and after its routes exist', () => {
    const routes = stack
      .all('AWS::EC2::Route')
      .filter(({ Properties }) => 'NatGatewayId' in Properties)
      .map(({ logicalId }) => ({ Ref: logicalId }));
    expect(routes).toHaveLength(3);
    for (const { mapping, queue, lambda } of consumers) {
      const subnets = JSON.stringify(lambda.Properties.VpcConfig?.SubnetIds ?? []);
      const throughOrigin = subnets.includes('NetworkVpcPrivateSubnet');
      if (queue.logicalId !== 'WebhookEventsQueue') expect(throughOrigin).toBe(true);
      expect(mapping.Properties.Enabled).toEqual(
        throughOrigin ? { 'Fn::If': ['WebhookOriginIsAttached', true, false] } : undefined,
      );
      expect(mapping.Metadata?.After).toEqual(
        throughOrigin
          ? { 'Fn::If': ['WebhookOriginIsAttached', expect.arrayContaining(routes), { Ref: 'AWS::NoValue' }] }
          : undefined,
      );
      expect(mapping).not.toHaveProperty('Condition');
    }
  });

  it("allow the delivery function outbound traffic to receivers' ports only, and no inbound", () => {
    const group = stack.named('AWS::EC2::SecurityGroup', 'WebhooksEgress');
    expect(group.Properties.SecurityGroupEgress).toMatchObject([
      { CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: 443, ToPort: 443 },
      { CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: 1024, ToPort: 65_535 },
    ]);
    expect(group.Properties).not.toHaveProperty('SecurityGroupIngress');
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
      ].sort(),
    );
    expect(stack.text.match(/kms:GenerateMac/g)).toHaveLength(1);
    expect(stack.text).not.toContain('WEBHOOK_LOCAL_RECEIVERS');
  });

  it('are purged daily', () => {
    const { Properties } = stack.named('AWS::Events::Rule', 'WebhooksPurgeDaily');
    expect(Properties.Targets).toMatchObject([
      { Arn: { 'Fn::GetAtt': [functionOf(stack, 'PurgeExpired').logicalId, 'Arn'] } },
    ]);
  });
});
