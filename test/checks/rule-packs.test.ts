import { type App, Stack, Validations } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { IConstruct } from 'constructs';
import { addRulePacks, rulePacks } from '../../lib/checks/rule-packs';
import { environmentsWithEveryOption, withApp } from '../support/stacks';

const packs = ['AwsSolutions', 'NIST.800.53.R5'];

/** Findings of the packs, acknowledged or not, each as `path rule`. */
const findingsIn = (app: App): string[] =>
  rulePacks(app).flatMap((pack) => {
    // The packs cannot list what was acknowledged.
    Object.assign(pack, { isAcknowledged: () => false });
    const { violations } = pack.validateScope(app);
    return violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${constructPath} ${ruleName}`),
    );
  });

/** Acknowledged rules of the packs, each as `path rule`. The CDK itself acknowledges CloudFormation's own rules on its resources. */
const acknowledgedOn = ({ node }: IConstruct): string[] =>
  node.metadata
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.keys(data))
    .map((id) => id.replace(/^annotation::/i, ''))
    .filter((id) => packs.some((pack) => id.startsWith(`${pack}-`)))
    .map((id) => `${node.path} ${id}`);

it('the stacks with every option of the table acknowledge each finding on its resource, and nothing else', () => {
  const { found, acknowledged } = withApp(
    (app) => {
      app.synth();
      return { found: findingsIn(app), acknowledged: app.node.findAll().flatMap(acknowledgedOn) };
    },
    { validateTemplates: false, environments: environmentsWithEveryOption() },
  );
  expect(acknowledged.sort()).toEqual(found.sort());
  for (const pack of packs) expect(found.filter((text) => text.includes(` ${pack}-`))).not.toEqual([]);
});

it('fails the synthesis', () => {
  withApp((app) => {
    new Topic(new Stack(app, 'Test', { env: { region: 'eu-central-1' } }), 'Topic');
    addRulePacks(app);
    expect(() => app.synth()).toThrow('NIST.800.53.R5-SNSEncryptedKMS');
  });
});
