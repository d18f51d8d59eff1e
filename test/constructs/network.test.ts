import { withOtherOptions } from '../support/rows';
import { type Json, type Resource, stackOf, stacksOfShapes } from '../support/stacks';

it('creates no Elastic IP beside existing ones', () => {
  expect(stackOf(withOtherOptions).all('AWS::EC2::EIP')).toEqual([]);
});

/** Services that act with a function's role from outside its network, and signing in, for which the function makes a token. */
const notCalled = ['logs', 'ec2', 'rds-db'];
const group = (reference: Json): string => reference['Fn::GetAtt'][0];

const serving = stacksOfShapes().filter(([, stack]) => stack.serves);
it.each(serving)('each function in the VPC of %s reaches everything that it calls', (_, stack) => {
  const { VpcSecurityGroupIds, Port } = stack.only('AWS::RDS::DBCluster').Properties;
  const inVpc = stack.all('AWS::Lambda::Function').filter(({ Properties }) => Properties.VpcConfig);
  expect(inVpc).not.toEqual([]);
  /** Whether one of the targets' security groups admits one of the function's. */
  const admits = (targets: Json[], { Properties }: Resource, port: number): boolean =>
    stack
      .all('AWS::EC2::SecurityGroupIngress')
      .map((ingress) => ingress.Properties)
      .filter(({ GroupId, FromPort }) => targets.map(group).includes(group(GroupId)) && FromPort === port)
      .some(({ SourceSecurityGroupId: source }) =>
        Properties.VpcConfig.SecurityGroupIds.map(group).includes(group(source)),
      );
  for (const lambda of inVpc) {
    const { logicalId, Properties } = lambda;
    if (Properties.Environment.Variables.DATABASE_HOST)
      expect([logicalId, admits(VpcSecurityGroupIds, lambda, Port)]).toEqual([logicalId, true]);
    // The private subnets' routes lead everywhere.
    if (!JSON.stringify(Properties.VpcConfig.SubnetIds).includes('IsolatedSubnet')) continue;
    const reachable = stack
      .all('AWS::EC2::VPCEndpoint')
      .filter((endpoint) => admits(endpoint.Properties.SecurityGroupIds, lambda, 443))
      .map((endpoint) => endpoint.Properties.ServiceName.split('.').at(-1));
    const called = stack
      .statementsOf(lambda)
      // `kms:ViaService`: Secrets Manager decrypts on the function's behalf.
      .filter(({ Effect, Condition }) => Effect === 'Allow' && !Condition)
      .flatMap(({ Action }) => Action)
      .map((action: string) => action.split(':')[0] as string)
      .filter((service) => !notCalled.includes(service));
    expect([logicalId, ...new Set(called)]).toEqual([logicalId, ...reachable]);
  }
});
