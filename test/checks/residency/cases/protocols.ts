import type { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as rds from 'aws-cdk-lib/aws-rds';
import { only } from '../refusals';
import { type RuleCases, refusedProperty, refusedType } from './case';
import { subnetsWithoutAddresses } from './network';

const groupOpenTo = (peer: (vpc: ec2.Vpc) => ec2.IPeer) => (stack: Stack) => {
  const vpc = new ec2.Vpc(stack, 'Vpc', { natGateways: 0, subnetConfiguration: subnetsWithoutAddresses });
  new ec2.SecurityGroup(stack, 'Group', { vpc: vpc as ec2.IVpc }).addIngressRule(peer(vpc), ec2.Port.HTTPS);
};

export const openSecurityGroup: RuleCases = {
  hostile: {
    'a group open to the internet': {
      build: groupOpenTo(() => ec2.Peer.anyIpv4()),
      path: 'Test/Group/Resource',
      refusal: 'Properties.SecurityGroupIngress.0.CidrIp is "0.0.0.0/0"',
    },
    'half of the internet': refusedProperty('AWS::EC2::SecurityGroupIngress', { CidrIp: '0.0.0.0/1' }),
    'more than the private block': refusedProperty('AWS::EC2::SecurityGroupIngress', {
      CidrIp: '10.0.0.0/7',
    }),
  },
  harmless: {
    "a group open to the network's own block": {
      build: groupOpenTo((vpc) => ec2.Peer.ipv4(vpc.vpcCidrBlock)),
    },
    'a private block': { build: only('AWS::EC2::SecurityGroupIngress', { CidrIp: '10.20.0.0/16' }) },
    'everything outwards': { build: only('AWS::EC2::SecurityGroupEgress', { CidrIp: '0.0.0.0/0' }) },
  },
};

export const ipv6: RuleCases = {
  hostile: {
    'a network with both': {
      build: (stack) =>
        new ec2.Vpc(stack, 'Vpc', {
          natGateways: 0,
          ipProtocol: ec2.IpProtocol.DUAL_STACK,
          subnetConfiguration: subnetsWithoutAddresses,
        }),
      path: 'Test/Vpc/ipv6cidr',
      refusal: 'Properties.AmazonProvidedIpv6CidrBlock is true',
    },
    'a subnet that gives addresses': refusedProperty('AWS::EC2::Subnet', {
      AssignIpv6AddressOnCreation: true,
    }),
    'an egress-only gateway': refusedType('AWS::EC2::EgressOnlyInternetGateway'),
    'a route': refusedProperty('AWS::EC2::Route', { DestinationIpv6CidrBlock: '::/0' }),
    'a rule of a security group': {
      build: groupOpenTo(() => ec2.Peer.anyIpv6()),
      path: 'Test/Group/Resource',
      refusal: 'Properties.SecurityGroupIngress.0.CidrIpv6 is "::/0"',
    },
    'an endpoint that answers both': refusedProperty(
      'AWS::ApiGateway::RestApi',
      {
        EndpointConfiguration: { Types: ['REGIONAL'], IpAddressType: 'dualstack' },
      },
      'EndpointConfiguration.IpAddressType',
    ),
    'a database that answers both': refusedProperty('AWS::RDS::DBCluster', { NetworkType: 'DUAL' }),
  },
  harmless: {
    'an IPv4 endpoint, subnet and database': {
      build: (stack) => {
        new ec2.Vpc(stack, 'Vpc', { natGateways: 0, subnetConfiguration: subnetsWithoutAddresses });
        new rds.CfnDBCluster(stack, 'Database', { networkType: 'IPV4' });
        only('AWS::ApiGateway::RestApi', {
          EndpointConfiguration: { Types: ['REGIONAL'], IpAddressType: 'ipv4' },
        })(stack);
      },
    },
  },
};
