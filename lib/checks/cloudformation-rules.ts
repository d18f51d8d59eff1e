import {
  CloudFormationValidatePlugin,
  type IPolicyValidationContext,
  type IPolicyValidationPlugin,
  type PolicyValidationPluginReport,
} from 'aws-cdk-lib';
import type { Thread } from '../thread';

/** Of `rules-worker.ts`. */
export type RulesThread = Thread<PolicyValidationPluginReport>;

/** The rules of a thread that has begun, in place of the CDK's own plugin, which an app then does not add. */
export const cloudFormationRules = (thread: RulesThread): IPolicyValidationPlugin => {
  const plugin = new CloudFormationValidatePlugin();
  const inThisThread = plugin.validate.bind(plugin);
  const validate = (context: IPolicyValidationContext) => thread.next() ?? inThisThread(context);
  return Object.assign(plugin, { validate }) as IPolicyValidationPlugin;
};
