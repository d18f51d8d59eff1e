import { type Resource, type StackTemplate, synthesizeStacks } from '../support/stacks';

const stacks = synthesizeStacks();
const each = Object.values(stacks).map((stack) => [stack.environment.name, stack] as const);
const direct = each.filter(([, { environment }]) => environment.databaseAccess === 'direct');
const overDataApi = each.filter(([, { environment }]) => environment.databaseAccess === 'data-api');

const functionOf = (stack: StackTemplate, name: string) =>
  stack.named('AWS::Lambda::Function', `Webhooks${name}`);
const sourceOf = (stack: StackTemplate, name: string) =>
  stack.named('AWS::Lambda::EventSourceMapping', `Webhooks${name}Source`);
const arnOf = (logicalId: string) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });
const actionsOn = (stack: StackTemplate, lambda: Resource, resource: string) =>
  stack
    .statementsOf(lambda)
    .filter(({ Resource }) => JSON.stringify(Resource).includes(JSON.stringify(arnOf(resource))))
    .flatMap(({ Action }) => Action)
    .sort();
const whileAttached = { 'Fn::If': ['WebhookOriginIsAttached', true, false] };
const consume = [
  'sqs:ChangeMessageVisibility',
  'sqs:DeleteMessage',
  'sqs:GetQueueAttributes',
  'sqs:ReceiveMessage',
];

describe.each(each)('the webhooks of %s', (_, stack) => {
  it.each([
    ['WebhookEvents', 'FanOutEvent'],
    ['WebhookDelivery', 'DeliverWebhook'],
  ])('%s waits in a queue that never gives up a message early', (name, consumer) => {
    const queue = stack.get(`${name}Queue`);
    expect(queue.Properties).toMatchObject({
      RedrivePolicy: { maxReceiveCount: 1_000, deadLetterTargetArn: arnOf(`${name}DeadLetterQueue`) },
    });
    const timeout = functionOf(stack, consumer).Properties.Timeout;
    expect(queue.Properties.VisibilityTimeout).toBe(6 * timeout);
    const dead = stack.get(`${name}DeadLetterQueue`).Properties;
    // With the reason why it was set aside, the longest message fits.
    expect(dead.MaximumMessageSize - queue.Properties.MaximumMessageSize).toBeGreaterThanOrEqual(1_024);
  });

  it.each([
    ['FanOutEvent', 'WebhookEventsQueue', 10],
    ['DeliverWebhook', 'WebhookDeliveryQueue', 20],
  ])(
    '%s is fed in batches whose messages fail alone, with a bound on the mapping',
    (name, queue, concurrency) => {
      expect(sourceOf(stack, name).Properties).toMatchObject({
        EventSourceArn: arnOf(queue),
        BatchSize: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: concurrency },
      });
      expect(functionOf(stack, name).Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    },
  );

  it('delivers from the private subnets, and only while the origin is attached', () => {
    const { VpcConfig } = functionOf(stack, 'DeliverWebhook').Properties;
    const subnets: { Ref: string }[] = VpcConfig.SubnetIds;
    expect(subnets).toHaveLength(3);
    expect(subnets.every(({ Ref }) => Ref.startsWith('NetworkVpcPrivateSubnet'))).toBe(true);
    expect(sourceOf(stack, 'DeliverWebhook').Properties.Enabled).toEqual(whileAttached);
  });

  it('turns delivery on after the routes to the origin are there, and is there without them', () => {
    const routes = stack
      .all('AWS::EC2::Route')
      .filter(({ Properties }) => 'NatGatewayId' in Properties)
      .map(({ logicalId }) => ({ Ref: logicalId }));
    expect(routes).toHaveLength(3);
    const source = sourceOf(stack, 'DeliverWebhook');
    const [condition, references, otherwise] = source.Metadata?.After['Fn::If'] ?? [];
    expect(condition).toBe('WebhookOriginIsAttached');
    expect(references).toHaveLength(3);
    expect(references).toEqual(expect.arrayContaining(routes));
    expect(otherwise).toEqual({ Ref: 'AWS::NoValue' });
    expect(source).not.toHaveProperty('Condition');
    expect(source.DependsOn ?? []).not.toEqual(expect.arrayContaining(routes.map(({ Ref }) => Ref)));
  });

  it('lets delivery out on the ports of receivers, and nothing in', () => {
    const group = stack.named('AWS::EC2::SecurityGroup', 'WebhooksEgress');
    expect(group.Properties.SecurityGroupEgress).toMatchObject([
      { CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: 443, ToPort: 443 },
      { CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: 1024, ToPort: 65_535 },
    ]);
    expect(group.Properties).not.toHaveProperty('SecurityGroupIngress');
    const { SecurityGroupIds } = functionOf(stack, 'DeliverWebhook').Properties.VpcConfig;
    expect(SecurityGroupIds).toContainEqual({ 'Fn::GetAtt': [group.logicalId, 'GroupId'] });
  });

  it('derives secrets by an HMAC key that delivery alone may use', () => {
    const key = stack.get('WebhookSecretsKey');
    expect(key.Properties).toMatchObject({ KeySpec: 'HMAC_256', KeyUsage: 'GENERATE_VERIFY_MAC' });
    const users = stack
      .all('AWS::Lambda::Function')
      .filter((lambda) => JSON.stringify(stack.statementsOf(lambda)).includes('kms:GenerateMac'));
    expect(users).toEqual([functionOf(stack, 'DeliverWebhook')]);
    expect(actionsOn(stack, functionOf(stack, 'DeliverWebhook'), 'WebhookSecretsKey')).toEqual([
      'kms:GenerateMac',
    ]);
  });

  it('lets each function read its own queue, and write where it has to', () => {
    const fanOut = functionOf(stack, 'FanOutEvent');
    expect(actionsOn(stack, fanOut, 'WebhookEventsQueue')).toEqual(consume);
    expect(actionsOn(stack, fanOut, 'WebhookEventsDeadLetterQueue')).toEqual(['sqs:SendMessage']);
    for (const queue of ['WebhookDeliveryQueue', 'WebhookRetryQueue'])
      expect(actionsOn(stack, fanOut, queue)).toEqual(['sqs:SendMessage']);
    const deliver = functionOf(stack, 'DeliverWebhook');
    expect(actionsOn(stack, deliver, 'WebhookDeliveryQueue')).toEqual(consume);
    expect(actionsOn(stack, deliver, 'WebhookRetryQueue')).toEqual([...consume, 'sqs:SendMessage']);
    expect(actionsOn(stack, deliver, 'WebhookDeliveryDeadLetterQueue')).toEqual(['sqs:SendMessage']);
    expect(actionsOn(stack, deliver, 'WebhookEventsQueue')).toEqual(['sqs:SendMessage']);
  });

  it('purges daily', () => {
    const rule = stack.named('AWS::Events::Rule', 'WebhooksPurgeDaily');
    expect(rule.Properties).toMatchObject({ ScheduleExpression: 'cron(17 3 * * ? *)', State: 'ENABLED' });
    expect(rule.Properties.Targets).toMatchObject([
      { Arn: arnOf(functionOf(stack, 'PurgeExpired').logicalId) },
    ]);
  });

  it('never permits local receivers', () => {
    expect(stack.text).not.toContain('WEBHOOK_LOCAL_RECEIVERS');
  });
});

describe.each(overDataApi)('over the Data API, in %s', (_, stack) => {
  it('fans out and purges outside of the VPC, whether or not the origin is attached', () => {
    expect(functionOf(stack, 'FanOutEvent').Properties).not.toHaveProperty('VpcConfig');
    expect(functionOf(stack, 'PurgeExpired').Properties).not.toHaveProperty('VpcConfig');
    expect(sourceOf(stack, 'FanOutEvent').Properties).not.toHaveProperty('Enabled');
  });
});

describe.each(direct)('with direct access, in %s', (_, stack) => {
  const subnetsOf = (name: string): string[] =>
    functionOf(stack, name).Properties.VpcConfig.SubnetIds.map(({ Ref }: { Ref: string }) => Ref);

  it('fans out from the private subnets, to reach SQS, and only while the origin is attached', () => {
    expect(subnetsOf('FanOutEvent')).toEqual(subnetsOf('DeliverWebhook'));
    expect(sourceOf(stack, 'FanOutEvent').Properties.Enabled).toEqual(whileAttached);
  });

  it('purges from the isolated subnets', () => {
    expect(subnetsOf('PurgeExpired').every((subnet) => subnet.includes('IsolatedSubnet'))).toBe(true);
  });
});
