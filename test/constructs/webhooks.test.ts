import { type Resource, type StackTemplate, synthesizeStacks } from '../support/stacks';

const each = Object.values(synthesizeStacks()).map((stack) => [stack.environment.name, stack] as const);

const functionOf = (stack: StackTemplate, name: string) =>
  stack.named('AWS::Lambda::Function', `Webhooks${name}`);
const arnOf = (logicalId: string) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });
const subnetsOf = ({ Properties }: Resource): readonly string[] =>
  (Properties.VpcConfig?.SubnetIds ?? []).map(({ Ref }: { readonly Ref: string }) => Ref);

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
      expect(queue.Properties.RedrivePolicy.maxReceiveCount).toBe(1_000);
      expect(mapping.Properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      // On the function, a limit would make throttled attempts count as receives.
      expect(mapping.Properties.ScalingConfig.MaximumConcurrency).toBeGreaterThan(1);
      expect(lambda.Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    }
  });

  it('leave room for the reason in dead letters', () => {
    for (const { queue } of consumers) {
      const [dead] = queue.Properties.RedrivePolicy.deadLetterTargetArn['Fn::GetAtt'];
      expect(stack.get(dead).Properties.MaximumMessageSize).toBeGreaterThanOrEqual(
        queue.Properties.MaximumMessageSize + 1_024,
      );
    }
  });

  it('consume both lanes only while the origin is attached, and after its routes exist', () => {
    const routes = stack
      .all('AWS::EC2::Route')
      .filter(({ Properties }) => 'NatGatewayId' in Properties)
      .map(({ logicalId }) => ({ Ref: logicalId }));
    expect(routes).toHaveLength(3);
    const throughOrigin = consumers.filter(({ lambda }) =>
      subnetsOf(lambda).some((subnet) => subnet.startsWith('NetworkVpcPrivateSubnet')),
    );
    expect(throughOrigin.map(({ queue }) => queue.logicalId)).toEqual(
      expect.arrayContaining(['WebhookDeliveryQueue', 'WebhookRetryQueue']),
    );
    for (const { mapping } of throughOrigin) {
      expect(mapping.Properties.Enabled).toEqual({ 'Fn::If': ['WebhookOriginIsAttached', true, false] });
      const [condition, references, otherwise] = mapping.Metadata?.After['Fn::If'] ?? [];
      expect([condition, otherwise]).toEqual(['WebhookOriginIsAttached', { Ref: 'AWS::NoValue' }]);
      expect(references).toHaveLength(3);
      expect(references).toEqual(expect.arrayContaining(routes));
      expect(mapping).not.toHaveProperty('Condition');
    }
    for (const { mapping } of consumers.filter((consumer) => !throughOrigin.includes(consumer)))
      expect(mapping.Properties).not.toHaveProperty('Enabled');
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
    expect(Properties.Targets).toMatchObject([{ Arn: arnOf(functionOf(stack, 'PurgeExpired').logicalId) }]);
  });
});
