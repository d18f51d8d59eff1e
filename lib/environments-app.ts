import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  App,
  type AppProps,
  type PolicyValidationStack,
  type Stack,
  type Stage,
  Tags,
  Validations,
} from 'aws-cdk-lib';
import type * as nag from 'cdk-nag';
import { cloudFormationRules, type RulesThread } from './checks/cloudformation-rules';
import { recordAcknowledgements } from './checks/residency/acknowledgements';
import { boundariesOf, boundaryBeside, ResidencyPlugin } from './checks/residency/plugin';
import { type Environment, inForce } from './environment/schema';
import { environments as table } from './environments';
import { identifyingTags } from './stacks/environment-stack';
import { RegionStack } from './stacks/region-stack';
import { StandbyStack } from './stacks/standby-stack';

/** An environment's stacks, and where further ones are made. */
export interface EnvironmentStacks {
  readonly scope: Stage;
  readonly environment: Environment;
  readonly serving: RegionStack;
  readonly standby: StandbyStack | undefined;
}

export interface EnvironmentsOptions {
  /** AWS accounts by the environment's name. @default - decided by the deployer's credentials */
  readonly accounts?: Readonly<Record<string, string | undefined>>;
  /** @default - the table in environments.ts */
  readonly environments?: readonly Environment[];
  /**
   * Whether synthesis warns of deprecated environments and checks the templates, by CloudFormation's rules and the rule pack: two
   * thirds of its time. Like `--no-validation` of the CDK command line. @default true
   */
  readonly validateTemplates?: boolean;
  /**
   * Adds to an environment's stacks, and returns stacks of one's own that belong to it: all rules apply to them, in its regions,
   * without gateway and Elastic IP. docs/deploying.md#build-on-it @default - nothing
   */
  readonly extend?: (stacks: EnvironmentStacks) => readonly Stack[];
}

export interface CreateAppOptions extends EnvironmentsOptions {
  /** Folder of the assembly. @default - the CDK command line's, otherwise a new temporary folder */
  readonly outdir?: string;
  /** Has CloudFormation's rules. @default - the CDK uses them in this thread */
  readonly rulesThread?: RulesThread | undefined;
}

export type Warn = (warning: string) => void;

/**
 * The app with a stack for each environment, not yet synthesized. Needs no account, no credentials and no network;
 * synthesizes the same templates in a test, in `npm start` and under the CDK command line.
 */
export function createApp({ outdir, rulesThread, ...options }: CreateAppOptions = {}): App {
  const app = newApp(outdir, { builtinCloudFormationValidation: options.validateTemplates ?? true });
  addEnvironments(app, options, rulesThread?.post);
  // After the other plugins, which validate meanwhile.
  if (rulesThread) Validations.of(app).addPlugins(cloudFormationRules(rulesThread));
  return app;
}

/** An app with the settings of all of ours, those in cdk.json too, which only the CDK command line reads by itself. */
export const newApp = (outdir?: string, props: AppProps = {}): App =>
  new App({
    ...(outdir !== undefined && { outdir }),
    context: JSON.parse(readFileSync(resolve(__dirname, '../cdk.json'), 'utf8')).context,
    analyticsReporting: false,
    treeMetadata: false,
    ...props,
  });

/**
 * Adds the stacks of the environments, with their checks, to an app or to a stage of one.
 *
 * @param onTemplates called with the templates before they are checked
 */
export function addEnvironments(
  scope: Stage,
  options: EnvironmentsOptions = {},
  onTemplates?: (templates: readonly PolicyValidationStack[]) => void,
): void {
  const { accounts = {}, validateTemplates = true, extend = () => [] } = options;
  const environments = (options.environments ?? table).map(inForce);
  const ownStacks = environments.flatMap((environment) => {
    const account = accounts[environment.name];
    const serving = new RegionStack(scope, { environment, account });
    if (validateTemplates) serving.warnOfDeprecation();
    const { standby: replicated } = environment;
    const standby =
      replicated &&
      new StandbyStack(scope, { environment: { ...environment, standby: replicated }, account });
    // The only dependency: the replica joins the serving stack's global database.
    standby?.addStackDependency(serving);
    const own = extend({ scope, environment, serving, standby });
    for (const stack of [serving, ...(standby ? [standby] : []), ...own]) recordAcknowledgements(stack);
    return own.map((stack) => {
      for (const [key, value] of Object.entries(identifyingTags(environment))) Tags.of(stack).add(key, value);
      return boundaryBeside(environment, stack);
    });
  });
  Validations.of(scope).addPlugins(
    new ResidencyPlugin([...boundariesOf(environments), ...ownStacks], onTemplates),
  );
  if (!validateTemplates) return;
  // Loaded here: that takes half a second, and `npm start` does without.
  const { AwsSolutionsChecks } = require('cdk-nag') as typeof nag;
  Validations.of(scope).addPlugins(new AwsSolutionsChecks(scope));
}

/**
 * A setting of the project, as in `cdk -c wallet:environment=uae`. Without the prefix it may be another project's: the CDK command line
 * merges a person's own ~/.cdk.json into every project (https://github.com/aws/aws-cdk/pull/12394).
 */
export function readSetting({ node }: Stage, name: string, warn: Warn): unknown {
  const value = node.tryGetContext(`wallet:${name}`);
  if (value === undefined && node.tryGetContext(name) !== undefined)
    warn(`The context "${name}" is not this project's. If you mean its setting, write -c wallet:${name}=…`);
  return value;
}
