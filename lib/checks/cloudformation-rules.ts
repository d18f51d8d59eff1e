import {
  CloudFormationValidatePlugin,
  type IPolicyValidationContext,
  type IPolicyValidationPlugin,
} from 'aws-cdk-lib';
import type { RulesThread } from './rules-thread';

/** The rules of a thread that has begun, in place of the CDK's own plugin, which an app then does not add. */
export const cloudFormationRules = (thread: RulesThread): IPolicyValidationPlugin => {
  const plugin = new CloudFormationValidatePlugin();
  const inThisThread = plugin.validate.bind(plugin);
  const validate = (context: IPolicyValidationContext) => thread.end() ?? inThisThread(context);
  return Object.assign(plugin, { validate }) as IPolicyValidationPlugin;
};
