import { validateEnvironments } from '../../lib/environment/rules';
import { type Environment, inForce } from '../../lib/environment/schema';
import {
  complete,
  promotedForGood,
  restored,
  returned,
  withStandby as row,
  serving as whenServing,
} from '../support/rows';
import { type StackTemplate, stackOf, synthesizeEveryStack } from '../support/stacks';

const { standby } = row;
const stacks = synthesizeEveryStack([row]);
const [serving, stack] = [stacks[row.stackId], stacks[standby.stackId]] as [StackTemplate, StackTemplate];
const before = synthesizeEveryStack([complete]);
const serves = stackOf(whenServing(complete));
const primary = serving.only('AWS::RDS::DBCluster').Properties;

describe('the standby', () => {
  it('follows the stack with its primary', () => {
    expect(stack.dependencies).toContain(row.stackId);
  });

  it('has no instance, no serving resource, and no route to or from the internet', () => {
    const types = stack.resources.map(({ Type }) => Type);
    const others = types.filter((type) => !/^AWS::(EC2|RDS|KMS|IAM|Logs|SNS|CloudWatch)::/.test(type));
    expect(others.sort()).toEqual(['AWS::Lambda::Function', 'Custom::VpcRestrictDefaultSG']);
    expect(types).not.toContain('AWS::RDS::DBInstance');
    expect(types.filter((type) => /EIP|Gateway|Route$|Endpoint|Ingress/.test(type))).toEqual([]);
  });
});

describe('promotion', () => {
  it('and a return bring the keys and the address of the first day', () => {
    const { adoptedKeys, adoptedElasticIp } = inForce(whenServing(returned));
    expect([adoptedKeys, adoptedElasticIp?.address]).toEqual([complete.standby.keys, complete.originAddress]);
  });

  it('by the word gives the row of its permanent form, and the stack that served is in no app', () => {
    expect(Object.keys(synthesizeEveryStack([whenServing(complete)]))).toEqual([standby.stackId]);
    const { former, ...promoted } = inForce(whenServing(complete));
    expect(promoted).toEqual(promotedForGood);
    expect(former?.stackId).toBe(complete.stackId);
  });

  it('after a restore takes the replica of the restored cluster, and restores nothing', () => {
    const restoredRow = restored(complete, { cluster: 'wallet-eu-0123abcd', time: '2026-11-21T10:30:00Z' });
    const serving = whenServing(restoredRow);
    expect(inForce(serving).database).toEqual({
      ...complete.database,
      replicaOf: serving.standby.globalClusterIdentifier,
    });
    // It would restore the stack that nobody can reach.
    const late: Environment = {
      ...serving,
      database: { ...serving.database, restoreFrom: { cluster: 'other', time: '2026-11-22T10:30:00Z' } },
    };
    expect(() => validateEnvironments([late])).toThrow('Undo the change of database.restoreFrom');
  });

  it('swaps the address and its reserve: a delivery from there is an alarm before, and none after', () => {
    const { address = '' } = complete.standby.adoptedElasticIp ?? {};
    const addressesOf = (each: StackTemplate) => {
      const check = each.named('AWS::Lambda::Function', 'CheckDelivery').Properties.Environment.Variables;
      return [JSON.stringify(check.PUBLISHED_ADDRESSES).includes(address), check.FORMER_ADDRESS];
    };
    expect(addressesOf(before[row.stackId] as StackTemplate)).toEqual([false, 'none']);
    expect(addressesOf(serves)).toEqual([true, complete.originAddress]);
  });

  it('adds all resources of a serving region, and keeps the replicated owner', () => {
    // Without a standby, it has no global database of its own, and no alarm on the replication; its address exists.
    const typesOf = (each: StackTemplate) =>
      each.resources
        .filter(
          ({ logicalId }) => !/^DatabaseGlobalCluster$|databasereplication|ginElasticIp$/.test(logicalId),
        )
        .map(({ Type }) => Type.replace('ReplicaKey', 'Key'))
        .sort();
    expect(typesOf(serves)).toEqual(typesOf(before[row.stackId] as StackTemplate));
    const { GenerateSecretString } = serves.get('DatabaseMasterSecret').Properties;
    expect(JSON.parse(GenerateSecretString.SecretStringTemplate)).toEqual({
      username: primary.MasterUsername,
    });
  });
});
