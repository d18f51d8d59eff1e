import { type CfnResource, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as rds from 'aws-cdk-lib/aws-rds';
import { oneRegion, only } from '../refusals';
import { type RuleCases, refusedProperty, refusedType } from './case';

const serving = { ...oneRegion, natGateways: 1 } as const;

export const subnetsWithoutAddresses = [
  { name: 'Public', subnetType: ec2.SubnetType.PUBLIC, mapPublicIpOnLaunch: false },
  { name: 'Isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
];

/** A network whose gateways' addresses are kept. */
const networkWith = (natGateways: number) => (stack: Stack) => {
  const vpc = new ec2.Vpc(stack, 'Vpc', {
    natGateways,
    subnetConfiguration: [
      ...subnetsWithoutAddresses,
      { name: 'Private', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
    ].filter(({ name }) => natGateways > 0 || name !== 'Private'),
  });
  for (const construct of vpc.node.findAll()) {
    if (construct.node.id === 'EIP') (construct as CfnResource).applyRemovalPolicy(RemovalPolicy.RETAIN);
  }
};

const elasticIp =
  (policy: RemovalPolicy, applyToUpdateReplacePolicy = true) =>
  (stack: Stack) => {
    new ec2.CfnEIP(stack, 'Address').applyRemovalPolicy(policy, { applyToUpdateReplacePolicy });
    only('AWS::EC2::NatGateway', { AllocationId: 'eipalloc-1' })(stack);
  };

const reserving = { ...serving, elasticIps: 2 } as const;

/** Elastic IPs, the last of them with this policy: Address1, Address2 and so on. */
const elasticIps =
  (count: number, last = RemovalPolicy.RETAIN) =>
  (stack: Stack) => {
    for (let number = 1; number < count; number++)
      new ec2.CfnEIP(stack, `Address${number}`).applyRemovalPolicy(RemovalPolicy.RETAIN);
    new ec2.CfnEIP(stack, `Address${count}`).applyRemovalPolicy(last);
    only('AWS::EC2::NatGateway', { AllocationId: 'eipalloc-1' })(stack);
  };

export const natCount: RuleCases = {
  hostile: {
    'a gateway in each zone': {
      build: networkWith(2),
      boundary: serving,
      path: 'Test/Vpc/PublicSubnet2/NATGateway',
      refusal: 'Type is "AWS::EC2::NatGateway"',
    },
    'no gateway where the stack serves': {
      build: networkWith(0),
      boundary: serving,
      path: 'Test',
      refusal: 'Resources is "0 NAT gateways"',
    },
    'a gateway where the stack stands by': {
      build: networkWith(1),
      path: 'Test/Vpc/PublicSubnet1/NATGateway',
      refusal: 'Type is "AWS::EC2::NatGateway"',
    },
    'a second origin address where the stack stands by': {
      build: elasticIp(RemovalPolicy.RETAIN),
      path: 'Test/Address',
      refusal: 'Type is "AWS::EC2::EIP"',
    },
    'a second origin address where the row asks for no reserve': {
      build: elasticIps(2),
      boundary: serving,
      path: 'Test/Address2',
      refusal: 'Type is "AWS::EC2::EIP"',
    },
    'a third origin address beside the reserve': {
      build: elasticIps(3),
      boundary: reserving,
      path: 'Test/Address3',
      refusal: 'Type is "AWS::EC2::EIP"',
    },
    'a second gateway for the reserve': {
      build: networkWith(2),
      boundary: reserving,
      path: 'Test/Vpc/PublicSubnet2/NATGateway',
      refusal: 'Type is "AWS::EC2::NatGateway"',
    },
    'a regional gateway, which has several addresses': refusedProperty(
      'AWS::EC2::NatGateway',
      { AvailabilityMode: 'regional' },
      'AvailabilityMode',
      serving,
    ),
    'a gateway with a second address': refusedProperty(
      'AWS::EC2::NatGateway',
      { AllocationId: 'a', SecondaryAllocationIds: ['b'] },
      'SecondaryAllocationIds',
      serving,
    ),
  },
  harmless: {
    'one gateway where the stack serves': { build: networkWith(1), boundary: serving },
    'no gateway where the stack stands by': { build: networkWith(0) },
    'one gateway, its address, and the reserve that the row asks for': {
      build: elasticIps(2),
      boundary: reserving,
    },
    'one gateway with an adopted address': {
      build: only('AWS::EC2::NatGateway', { AllocationId: 'eipalloc-1' }),
      boundary: serving,
    },
  },
};

export const elasticIpRetained: RuleCases = {
  hostile: {
    'an address that goes with the stack': {
      build: elasticIp(RemovalPolicy.DESTROY),
      boundary: serving,
      path: 'Test/Address',
      refusal: 'DeletionPolicy is "Delete"',
    },
    'an address that goes with its replacement': {
      build: elasticIp(RemovalPolicy.RETAIN, false),
      boundary: serving,
      path: 'Test/Address',
      refusal: 'UpdateReplacePolicy is left out',
    },
    'a reserve that goes with the stack': {
      build: elasticIps(2, RemovalPolicy.DESTROY),
      boundary: reserving,
      path: 'Test/Address2',
      refusal: 'DeletionPolicy is "Delete"',
    },
  },
  harmless: { 'an address that is kept': { build: elasticIp(RemovalPolicy.RETAIN), boundary: serving } },
};

export const publicAddress: RuleCases = {
  hostile: {
    'a subnet that gives addresses': {
      build: (stack) => new ec2.Vpc(stack, 'Vpc', { natGateways: 0 }),
      path: 'Test/Vpc/PublicSubnet1/Subnet',
      refusal: 'Properties.MapPublicIpOnLaunch is true',
    },
    'a database with an address': {
      build: (stack) => new rds.CfnDBInstance(stack, 'Database', { publiclyAccessible: true }),
      path: 'Test/Database',
      refusal: 'Properties.PubliclyAccessible is true',
    },
    'a machine with an address': refusedProperty(
      'AWS::EC2::Instance',
      { NetworkInterfaces: [{ AssociatePublicIpAddress: true }] },
      'NetworkInterfaces.0.AssociatePublicIpAddress',
    ),
    'a container with an address': refusedProperty('AWS::ECS::Service', {
      NetworkConfiguration: { AwsvpcConfiguration: { AssignPublicIp: 'ENABLED' } },
    }),
    'an address tied to a machine': refusedType('AWS::EC2::EIPAssociation', { InstanceId: 'i-1' }),
    'an address by a parameter': refusedProperty(
      'AWS::EC2::Subnet',
      { MapPublicIpOnLaunch: { Ref: 'Unknown' } },
      'MapPublicIpOnLaunch',
    ),
  },
  harmless: {
    'a subnet and a database without addresses': {
      build: (stack) => {
        new ec2.Vpc(stack, 'Vpc', { natGateways: 0, subnetConfiguration: subnetsWithoutAddresses });
        new rds.CfnDBInstance(stack, 'Database', { publiclyAccessible: false });
      },
    },
  },
};

const functionIn = (subnetType: ec2.SubnetType) => (stack: Stack) => {
  const vpc = new ec2.Vpc(stack, 'Vpc', { natGateways: 0, subnetConfiguration: subnetsWithoutAddresses });
  new lambda.Function(stack, 'Function', {
    runtime: lambda.Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: lambda.Code.fromInline('exports.handler = () => {};'),
    vpc: vpc as ec2.IVpc,
    vpcSubnets: { subnetType },
    allowPublicSubnet: true,
  });
};

export const publicSubnet: RuleCases = {
  hostile: {
    'a function in public subnets': {
      build: functionIn(ec2.SubnetType.PUBLIC),
      path: 'Test/Function/Resource',
      refusal: 'Properties.VpcConfig is "VpcPublicSubnet1Subnet5C2D37C4"',
    },
  },
  harmless: { 'a function in isolated subnets': { build: functionIn(ec2.SubnetType.PRIVATE_ISOLATED) } },
};
