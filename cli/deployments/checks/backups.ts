import { Backup } from '@aws-sdk/client-backup';
import { ask, clientSettings } from '../../shell/aws';
import { type Check, planned, warning } from './check';

export const backupChecks: readonly Check[] = [
  {
    // AWS says that a plan which names the cluster, as ours, does not need the opt-in, and does not say it of drills.
    // https://docs.aws.amazon.com/aws-backup/latest/devguide/API_UpdateRegionSettings.html
    id: 'backup-opt-in',
    async ask({ stack }) {
      if (planned(stack, 'AWS::Backup::BackupPlan').length === 0) return 'the stack has no backup plan';
      const { region } = stack;
      const settings = await ask(new Backup(clientSettings(region)), 'describeRegionSettings', {});
      const { Aurora: isIn } = settings.ResourceTypeOptInPreference ?? {};
      if (isIn) return 'AWS Backup is on for Aurora';
      if (isIn === undefined)
        return warning(
          `AWS Backup does not list Aurora in ${region}`,
          `The first backup may fail: see the alarm backup-copy. aws backup describe-region-settings --region ${region}`,
        );
      return warning(
        'AWS Backup is off for Aurora',
        `Turn it on: aws backup update-region-settings --resource-type-opt-in-preference Aurora=true --region ${region}`,
      );
    },
  },
];
