import {
  CloudFormationValidatePlugin,
  type IPolicyValidationContext,
  type IPolicyValidationPlugin,
} from 'aws-cdk-lib';
import type { ValidateInThread } from './rules-thread';

/** CloudFormation's rules in another thread. An app that has it gets no second one of the CDK. */
export const cloudFormationRules = (validateInThread: ValidateInThread): IPolicyValidationPlugin => {
  const plugin = new CloudFormationValidatePlugin();
  const inThisThread = plugin.validate.bind(plugin);
  const validate = (context: IPolicyValidationContext) => validateInThread(context) ?? inThisThread(context);
  return Object.assign(plugin, { validate }) as IPolicyValidationPlugin;
};
