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
  /** @default - the table in environments.ts; with `-c developer=NAME`, only that copy of its first row */
  readonly environments?: readonly Environment[];
  /**
   * Whether synthesis warns of deprecated environments and checks the templates, by CloudFormation's rules and the rule packs: two
   * thirds of its time. Like `--no-validation` of the CDK command line. @default true
   */
  readonly validateTemplates?: boolean;
}

/**
 * The app with a stack for each environment, not yet synthesized. Needs no account, no credentials and no network;
 * synthesizes the same templates in a test, in `npm start` and under the CDK command line.
 */
export function createApp(options: CreateAppOptions = {}): App {
  const { outdir, accounts = {}, validateTemplates = true } = options;
  const app = new App({
    ...(outdir !== undefined && { outdir }),
    context: commandLineContext(),
    builtinCloudFormationValidation: validateTemplates,
    analyticsReporting: false,
    treeMetadata: false,
  });
  const developer = app.node.tryGetContext('developer');
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

/** The context in cdk.json, mainly feature flags, which only the CDK command line reads by itself. */
export function commandLineContext(): Record<string, unknown> {
  const settings = JSON.parse(readFileSync(resolve(__dirname, '../cdk.json'), 'utf8')) as {
    readonly context: Record<string, unknown>;
  };
  return settings.context;
}
