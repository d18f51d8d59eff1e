import { environments } from '../../lib/environments';
import { type Resource, type StackTemplate, stackOf } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

/** Services that act with a function's role from outside its network, and signing in, for which the function makes a token. */
const notCalled = ['logs', 'ec2', 'rds-db'];

const servicesCalledBy = (stack: StackTemplate, lambda: Resource): ReadonlySet<string> => {
  const calls = stack
    .statementsOf(lambda)
    // `kms:ViaService`: Secrets Manager decrypts on the function's behalf.
    .filter(({ Effect, Condition }) => Effect === 'Allow' && !Condition)
    .flatMap(({ Action }) => Action);
  return new Set(
    calls.map((action) => action.split(':')[0]).filter((service) => !notCalled.includes(service)),
  );
};

const group = (reference: Json): string => reference['Fn::GetAtt'][0];

/** Whether one of the targets' security groups admits one of the function's. */
const admits = (stack: StackTemplate, targets: Json[], { Properties }: Resource, port: number): boolean =>
  stack
    .all('AWS::EC2::SecurityGroupIngress')
    .map((ingress) => ingress.Properties)
    .filter(({ GroupId, FromPort }) => targets.map(group).includes(group(GroupId)) && FromPort === port)
    .some((rule) =>
      Properties.VpcConfig.SecurityGroupIds.map(group).includes(group(rule.SourceSecurityGroupId)),
    );

it.each(environments)('each function in the VPC of $name reaches everything that it calls', (row) => {
  const stack = stackOf(row);
  const { VpcSecurityGroupIds, Port } = stack.only('AWS::RDS::DBCluster').Properties;
  const inVpc = stack.all('AWS::Lambda::Function').filter(({ Properties }) => Properties.VpcConfig);
  expect(inVpc).not.toEqual([]);
  for (const lambda of inVpc) {
    const { Environment, VpcConfig } = lambda.Properties;
    if (Environment.Variables.DATABASE_HOST)
      expect([lambda.logicalId, admits(stack, VpcSecurityGroupIds, lambda, Port)]).toEqual([
        lambda.logicalId,
        true,
      ]);
    const reachable = stack
      .all('AWS::EC2::VPCEndpoint')
      .filter(({ Properties }) => admits(stack, Properties.SecurityGroupIds, lambda, 443))
      .map(({ Properties }) => Properties.ServiceName.split('.').at(-1));
    // The private subnets' routes lead everywhere: webhook-origin.test.ts.
    if (JSON.stringify(VpcConfig.SubnetIds).includes('IsolatedSubnet'))
      expect([lambda.logicalId, ...servicesCalledBy(stack, lambda)]).toEqual([
        lambda.logicalId,
        ...reachable,
      ]);
  }
});
