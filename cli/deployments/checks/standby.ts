import { KMS } from '@aws-sdk/client-kms';
import { type Environment, recordedArn, type SharedKey, sharedKeysOf } from '../../../lib/environments';
import { callAws, clientSettings, unlessRefused } from '../../shell/aws';
import { type Check, type Context, existing, failed, standsBy, warning } from './check';

export const standbyChecks: readonly Check[] = [
  {
    id: 'promotion',
    async run(context) {
      if (!standsBy(context)) return 'the stack is no standby';
      const changes = changesOf(context.environment);
      const gaps = await gapsOf(context);
      if (changes.length + gaps.length === 0) return 'a promotion changes no key and no address';
      return warning(
        [...(changes.length > 0 ? [`a promotion would change ${changes.join(', ')}`] : []), ...gaps].join(
          '; ',
        ),
        'Record keys and addresses in the row, and take domain names: docs/deploying.md#3-the-first-deployment.',
      );
    },
  },
  {
    // https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-replicate.html
    id: 'key-replicas',
    async run(context) {
      const { environment, stack } = context;
      const { standby } = environment;
      const primaries = standsBy(context) ? standby?.keys : environment.keyReplicas;
      const adopted = standsBy(context) ? standby?.adoptedKeys : environment.adoptedKeys;
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

/** What receivers, issuers and callers would have to change with a promotion. */
function changesOf({ multiRegionKeys, standby, domainNames }: Environment): readonly string[] {
  const { keys, adoptedKeys, adoptedElasticIp } = standby ?? {};
  const secrets = "every webhook's secret, every token's key";
  return [
    ...(multiRegionKeys ? [] : [`every key (multiRegionKeys is false): ${secrets}`]),
    ...(multiRegionKeys && !(keys ?? adoptedKeys) ? [secrets] : []),
    ...(adoptedElasticIp ? [] : ['the webhook origin address']),
    ...(domainNames ? [] : ['the base addresses']),
  ];
}

/** What the row should know, or the stacks should have, before the serving region is lost. */
async function gapsOf(context: Context): Promise<readonly string[]> {
  const { environment, deployedServing } = context;
  const { stackId, standby, adoptedElasticIp, originAddress = adoptedElasticIp?.address } = environment;
  // The serving region may be down.
  const { outputs = {} } = (await deployedServing.catch(() => undefined)) ?? {};
  const own = standby?.adoptedElasticIp?.address;
  const { WebhookOriginAddress: serving, WebhookOriginStandbyAddress: reserve } = outputs;
  return [
    ...(originAddress
      ? []
      : [`the address of ${stackId} is not recorded: nobody would publish it afterwards`]),
    ...(originAddress && serving && serving !== originAddress
      ? [`the row has ${originAddress} as the address of ${stackId}, which has ${serving}`]
      : []),
    ...(own && serving && own !== reserve
      ? [
          `${stackId} publishes ${reserve ?? 'no address'} as the standby's, not ${own}: deploy it, and tell receivers`,
        ]
      : []),
    ...(await keysToCome(context)),
  ];
}

/** The keys that sign, but have no replica yet, each with the edit that a promotion on this day would need. */
async function keysToCome(context: Context): Promise<readonly string[]> {
  const { environment, stack } = context;
  const { keys, adoptedKeys } = environment.standby ?? {};
  if ((await context.deployed) === undefined) return [];
  const replicas = await existing(context, 'AWS::KMS::ReplicaKey');
  const hasReplica = (key: SharedKey) =>
    recordedArn(adoptedKeys, key) !== undefined ||
    replicas.includes(recordedArn(keys, key)?.split('key/')[1] ?? '');
  const all = sharedKeysOf(environment);
  return (['accessToken', 'userAction'] as const).flatMap((purpose) => {
    const [first, ...others] = all.filter((key) => key.purpose === purpose);
    if (!first || recordedArn(keys ?? adoptedKeys, first) === undefined || hasReplica(first)) return [];
    const next = others.find(hasReplica);
    const edit = next
      ? `put ${next.label} first in signingKeyLabels.${purpose}`
      : `no key of signingKeyLabels.${purpose} would be kept`;
    return [`${stack.name} has no replica of ${purpose} ${first.label}: deploy it; on the day, ${edit}`];
  });
}
