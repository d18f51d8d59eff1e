import { KMS } from '@aws-sdk/client-kms';
import { recordedArn, sharedKeysOf } from '../../../lib/environments';
import { callAws, clientSettings, unlessRefused } from '../../shell/aws';
import { type Check, existing, failed, warning } from './check';

export const standbyChecks: readonly Check[] = [
  {
    id: 'promotion',
    async run({ environment: { standby, domainNames }, stack }) {
      if (stack.name !== standby?.stackId) return 'the stack is no standby';
      const { keys, adoptedKeys, adoptedElasticIp } = standby;
      const changes = [
        ...((keys ?? adoptedKeys) ? [] : ["every webhook's secret, every token's key"]),
        ...(adoptedElasticIp ? [] : ['the webhook origin address']),
        ...(domainNames ? [] : ['the base addresses']),
      ];
      if (changes.length === 0) return 'a promotion changes no key and no address';
      return warning(
        `a promotion would change ${changes.join(', ')}`,
        'Record keys and address in the row, and take domain names: docs/deploying.md#3-the-first-deployment.',
      );
    },
  },
  {
    // https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-replicate.html
    id: 'key-replicas',
    async run(context) {
      const { environment, stack } = context;
      const { standby } = environment;
      const isStandby = stack.name === standby?.stackId;
      const primaries = isStandby ? standby.keys : environment.keyReplicas;
      const adopted = isStandby ? standby.adoptedKeys : environment.adoptedKeys;
      const deployed = await existing(context, 'AWS::KMS::ReplicaKey');
      const stateOf = async (region: string, KeyId: string) => {
        const kms = new KMS(clientSettings(region));
        const answer = await unlessRefused(/^NotFoundException$/, () =>
          callAws(kms, 'describeKey', { KeyId }),
        );
        return answer?.KeyMetadata?.KeyState;
      };
      const found: string[] = [];
      for (const key of sharedKeysOf(environment)) {
        const own = recordedArn(adopted, key);
        const primary = recordedArn(primaries, key);
        const [, , , region = '', , resource = ''] = (own ?? primary ?? '').split(':');
        const id = resource.replace('key/', '');
        // The primary's region may be down.
        if (id === '' || (!own && deployed.includes(id))) continue;
        const state = await stateOf(region, id);
        if (state !== 'Enabled')
          return failed(
            `${own ?? primary} is ${state ?? 'missing'}`,
            own
              ? `Use it again: aws kms cancel-key-deletion --region ${region} --key-id ${id}, then aws kms enable-key --region ${region} --key-id ${id}`
              : `Record what the serving stack has: ./wallet outputs --environment ${environment.name}`,
          );
        const blocking = own ? undefined : await stateOf(stack.region, id);
        if (blocking)
          return failed(
            `${id} is in ${stack.region} already, ${blocking}: a region holds one replica of a key`,
            'Adopt it: "Removing the standby" in docs/runbook/planned-work.md.',
          );
        found.push(id);
      }
      return found.length === 0 ? 'no replicas to create or adopt' : `${found.join(', ')}: as recorded`;
    },
  },
];
