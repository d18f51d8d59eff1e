import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { boundariesOf, ResidencyPlugin } from './checks/residency/plugin';
import { addRulePacks } from './checks/rule-packs';
import type { Environment } from './environment/schema';
import { developerEnvironment, environments as table } from './environments';
import { RegionStack } from './stacks/region-stack';
import { StandbyStack } from './stacks/standby-stack';

export interface CreateAppOptions {
  /** Folder of the assembly. @default - the CDK command line's, otherwise a new temporary folder */
  readonly outdir?: string;
  /** AWS accounts by the environment's name. @default - decided by the deployer's credentials */
  readonly accounts?: Readonly<Record<string, string | undefined>>;
  /** @default - the table in environments.ts; with `-c wallet:developer=NAME`, only that copy of its first row */
  readonly environments?: readonly Environment[];
  /**
   * Whether synthesis warns of deprecated environments and checks the templates, by CloudFormation's rules and the rule packs: two
   * thirds of its time. Like `--no-validation` of the CDK command line. @default true
   */
  readonly validateTemplates?: boolean;
  readonly warn?: Warn;
}

export type Warn = (warning: string) => void;

/**
 * The app with a stack for each environment, not yet synthesized. Needs no account, no credentials and no network;
 * synthesizes the same templates in a test, in `npm start` and under the CDK command line.
 */
export function createApp(options: CreateAppOptions = {}): App {
  const { outdir, accounts = {}, validateTemplates = true, warn } = options;
  const app = new App({
    ...(outdir !== undefined && { outdir }),
    context: commandLineContext(),
    builtinCloudFormationValidation: validateTemplates,
    analyticsReporting: false,
    treeMetadata: false,
  });
  const developer = readSetting(app, 'developer', warn);
  const { environments = developer === undefined ? table : [developerEnvironment(String(developer))] } =
    options;
  for (const environment of environments) {
    const account = accounts[environment.name];
    // Other addresses are unknown before deployment.
    const otherDashboards = environments
      .filter((other) => other !== environment)
      .flatMap(({ name, title, domainNames }) =>
        domainNames ? [{ environment: name, title, url: `https://${domainNames.dashboard}` }] : [],
      );
    const serving = new RegionStack(app, { environment, account, otherDashboards });
    if (validateTemplates) serving.warnOfDeprecation();
    const { standby } = environment;
    if (standby) {
      const replica = new StandbyStack(app, { environment: { ...environment, standby }, account });
      // The only dependency: the replica joins the serving stack's global database.
      replica.addStackDependency(serving);
      if (validateTemplates) replica.warnOfMissingKeys();
    }
  }
  Validations.of(app).addPlugins(new ResidencyPlugin(boundariesOf(environments)));
  if (validateTemplates) addRulePacks(app);
  return app;
}

/**
 * A setting of the project, as in `cdk -c wallet:developer=ada`. Without the prefix it may be another project's: the CDK command line
 * merges a person's own ~/.cdk.json into every project (https://github.com/aws/aws-cdk/pull/12394).
 *
 * @param warn is told of one without the prefix. @default - nobody is
 */
export function readSetting(app: App, name: string, warn?: Warn): unknown {
  const value = app.node.tryGetContext(`wallet:${name}`);
  if (value === undefined && app.node.tryGetContext(name) !== undefined)
    warn?.(`The context "${name}" is not this project's. If you mean its setting, write -c wallet:${name}=…`);
  return value;
}

/** The context in cdk.json, mainly feature flags, which only the CDK command line reads by itself. */
export function commandLineContext(): Record<string, unknown> {
  const settings = JSON.parse(readFileSync(resolve(__dirname, '../cdk.json'), 'utf8')) as {
    readonly context: Record<string, unknown>;
  };
  return settings.context;
}
