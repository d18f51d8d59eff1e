import { type App, CfnResource, Stack, Validations } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { addRulePacks, rulePacks } from '../../lib/checks/rule-packs';
import { environmentsWithEveryOption, withApp } from '../support/stacks';

const packs = ['AwsSolutions', 'NIST.800.53.R5', 'PCI.DSS.321'];

/** Findings of the packs, each as `path rule`. */
const findingsIn = (app: App, { despiteAcknowledgements = false } = {}): string[] =>
  rulePacks(app).flatMap((pack) => {
    // The packs cannot list what was acknowledged.
    if (despiteAcknowledgements) Object.assign(pack, { isAcknowledged: () => false });
    return pack
      .validateScope(app)
      .violations.flatMap(({ ruleName, violatingResources }) =>
        violatingResources.map(({ constructPath }) => `${constructPath} ${ruleName}`),
      );
  });

/** Acknowledged rules of the packs, each as `path rule`. The CDK itself acknowledges CloudFormation's own rules on its resources. */
const acknowledgedOn = ({ node }: Construct): string[] =>
  node.metadata
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.keys(data))
    .map((id) => id.replace(/^annotation::/i, ''))
    .filter((id) => packs.some((pack) => id.startsWith(`${pack}-`)))
    .map((id) => `${node.path} ${id}`);

describe('the stacks with every option of the table', () => {
  const { open, findings, onResources, elsewhere } = withApp(
    (app) => {
      app.synth();
      const constructs = app.node.findAll() as Construct[];
      return {
        open: findingsIn(app),
        findings: findingsIn(app, { despiteAcknowledgements: true }),
        onResources: constructs.filter(CfnResource.isCfnResource).flatMap(acknowledgedOn),
        elsewhere: constructs.filter((one) => !CfnResource.isCfnResource(one)).flatMap(acknowledgedOn),
      };
    },
    { validateTemplates: false, environments: environmentsWithEveryOption() },
  );

  it('have no unacknowledged finding of any pack', () => {
    expect(open).toEqual([]);
    for (const pack of packs) expect(findings.filter((text) => text.includes(` ${pack}-`))).not.toEqual([]);
  });

  it('acknowledge existing findings only, on resources only, so that no reason becomes stale', () => {
    expect(onResources.sort()).toEqual(findings.sort());
    expect(elsewhere).toEqual([]);
  });
});

it('fails the synthesis', () => {
  withApp((app) => {
    new Topic(new Stack(app, 'Test', { env: { region: 'eu-central-1' } }), 'Topic');
    addRulePacks(app);
    expect(() => app.synth()).toThrow('NIST.800.53.R5-SNSEncryptedKMS');
  });
});
