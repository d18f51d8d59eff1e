import { Backup } from '@aws-sdk/client-backup';
import { ask, clientSettings } from '../../shell/aws';
import { type Check, existing, failed, planned, warning } from './check';

export const backupChecks: readonly Check[] = [
  {
    // "To backup Aurora databases, you must enable the opt-in setting for Aurora", also where a plan names the cluster:
    // https://docs.aws.amazon.com/aws-backup/latest/devguide/assigning-resources-json.html
    // https://docs.aws.amazon.com/aws-backup/latest/devguide/API_UpdateRegionSettings.html omits this.
    id: 'backup-opt-in',
    async ask(context) {
      const { stack } = context;
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
      // A deployment of what has a plan may be a repair.
      const report = (await existing(context, 'AWS::Backup::BackupPlan')).length > 0 ? warning : failed;
      return report(
        'AWS Backup is off for Aurora',
        `Turn it on: aws backup update-region-settings --resource-type-opt-in-preference Aurora=true --region ${region}`,
      );
    },
  },
];
