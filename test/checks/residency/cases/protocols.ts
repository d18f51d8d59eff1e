import type { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as rds from 'aws-cdk-lib/aws-rds';
import { only } from '../refusals';
import type { RuleCases } from './case';
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
      at: 'Properties.SecurityGroupIngress.0.CidrIp',
      value: '0.0.0.0/0',
    },
    'half of the internet': {
      build: only('AWS::EC2::SecurityGroupIngress', { CidrIp: '0.0.0.0/1' }),
      path: 'Test/It',
      at: 'Properties.CidrIp',
      value: '0.0.0.0/1',
    },
    'more than the private block': {
      build: only('AWS::EC2::SecurityGroupIngress', { CidrIp: '10.0.0.0/7' }),
      path: 'Test/It',
      at: 'Properties.CidrIp',
      value: '10.0.0.0/7',
    },
  },
  harmless: {
    "a group open to the network's own block": {
      build: groupOpenTo((vpc) => ec2.Peer.ipv4(vpc.vpcCidrBlock)),
    },
    'a private block': { build: only('AWS::EC2::SecurityGroupIngress', { CidrIp: '10.20.0.0/16' }) },
    'everything outwards': {
      build: only('AWS::EC2::SecurityGroupEgress', { CidrIp: '0.0.0.0/0' }),
    },
  },
};

export const ipv6: RuleCases = {
  hostile: {
    'a network with both': {
      build: (stack) => {
        new ec2.Vpc(stack, 'Vpc', {
          natGateways: 0,
          ipProtocol: ec2.IpProtocol.DUAL_STACK,
          subnetConfiguration: subnetsWithoutAddresses,
        });
      },
      path: 'Test/Vpc/ipv6cidr',
      at: 'Properties.AmazonProvidedIpv6CidrBlock',
      value: 'true',
    },
    'a subnet that gives addresses': {
      build: only('AWS::EC2::Subnet', { AssignIpv6AddressOnCreation: true }),
      path: 'Test/It',
      at: 'Properties.AssignIpv6AddressOnCreation',
      value: 'true',
    },
    'an egress-only gateway': {
      build: only('AWS::EC2::EgressOnlyInternetGateway', {}),
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::EC2::EgressOnlyInternetGateway',
    },
    'a route': {
      build: only('AWS::EC2::Route', { DestinationIpv6CidrBlock: '::/0' }),
      path: 'Test/It',
      at: 'Properties.DestinationIpv6CidrBlock',
      value: '::/0',
    },
    'a rule of a security group': {
      build: groupOpenTo(() => ec2.Peer.anyIpv6()),
      path: 'Test/Group/Resource',
      at: 'Properties.SecurityGroupIngress.0.CidrIpv6',
      value: '::/0',
    },
    'an endpoint that answers both': {
      build: only('AWS::ApiGateway::RestApi', {
        EndpointConfiguration: { Types: ['REGIONAL'], IpAddressType: 'dualstack' },
      }),
      path: 'Test/It',
      at: 'Properties.EndpointConfiguration.IpAddressType',
      value: 'dualstack',
    },
    'a database that answers both': {
      build: only('AWS::RDS::DBCluster', { NetworkType: 'DUAL' }),
      path: 'Test/It',
      at: 'Properties.NetworkType',
      value: 'DUAL',
    },
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
