import { App, type Stack, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { createApp, readSetting } from '../../lib/environments-app';
import { withEveryOption } from '../support/rows';
import { environments } from '../support/table';
import { withTemporaryFolder } from '../support/temporary-folder';

/** Findings of the pack, acknowledged or not, each as `path rule`. */
const findingsIn = (app: App): string[] => {
  const pack = new AwsSolutionsChecks(app);
  // It cannot list what was acknowledged.
  Object.assign(pack, { isAcknowledged: () => false });
  const { violations } = pack.validateScope(app);
  return violations.flatMap(({ ruleName, violatingResources }) =>
    violatingResources.map(({ constructPath }) => `${constructPath} ${ruleName}`),
  );
};

/** Acknowledged rules of the pack, each as `path rule`, with the reason. The CDK itself acknowledges CloudFormation's own rules on its resources. */
const acknowledgedOn = ({ node }: IConstruct): (readonly [finding: string, reason: string])[] =>
  node.metadata
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.entries<string>(data))
    .map(([id, reason]) => [id.replace(/^annotation::/i, ''), reason] as const)
    .filter(([id]) => id.startsWith('AwsSolutions-'))
    .map(([id, reason]) => [`${node.path} ${id}`, reason]);

const rows = environments.map(withEveryOption);
const accounts = Object.fromEntries(rows.slice(1).map(({ name }, index) => [name, `11112222333${index}`]));
const { found, acknowledged, targets } = withTemporaryFolder((outdir) => {
  const app = createApp({ outdir, validateTemplates: false, environments: rows, accounts });
  return {
    found: findingsIn(app),
    acknowledged: app.node.findAll().flatMap(acknowledgedOn),
    targets: app.node.children.map((stack) => (stack as Stack).environment),
  };
});

it('the stacks with every option of the table acknowledge each finding on its resource, and nothing else', () => {
  expect(acknowledged.map(([finding]) => finding).sort()).toEqual(found.sort());
  // A sentence for a reviewer.
  for (const [finding, reason] of acknowledged)
    expect([finding, reason]).toEqual([finding, expect.stringMatching(/^[A-Z]\S*( \S+){5,}$/)]);
  expect(found).not.toEqual([]);
});

it('each stack goes to the account that the deployer sets for its environment', () => {
  const expected = rows.flatMap(({ name, region, standby }) =>
    [region, ...(standby ? [standby.region] : [])].map(
      (place) => `aws://${accounts[name] ?? 'unknown-account'}/${place}`,
    ),
  );
  expect(targets).toEqual(expected);
});

it('a setting without the prefix of the project has no effect, and is told', () => {
  const warn = jest.fn();
  const app = new App({ context: { email: 'bob', 'wallet:region': 'eu-west-1', region: 'us-east-1' } });
  const read = ['email', 'region', 'repository'].map((name) => readSetting(app, name, warn));
  expect(read).toEqual([undefined, 'eu-west-1', undefined]);
  const told = 'The context "email" is not this project\'s. If you mean its setting, write -c wallet:email=…';
  expect(warn.mock.calls).toEqual([[told]]);
});
