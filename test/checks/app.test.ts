import { type App, Stack, Validations } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { IConstruct } from 'constructs';
import { reviewed } from '../../lib/checks/residency/reviewed';
import { addRulePacks, rulePacks } from '../../lib/checks/rule-packs';
import { environments } from '../../lib/environments';
import { withEveryOption } from '../support/rows';
import { type Resource, withApp } from '../support/stacks';

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

/** Acknowledged rules of the packs, each as `path rule`, with the reason. The CDK itself acknowledges CloudFormation's own rules on its resources. */
const acknowledgedOn = ({ node }: IConstruct): (readonly [finding: string, reason: string])[] =>
  node.metadata
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.entries<string>(data))
    .map(([id, reason]) => [id.replace(/^annotation::/i, ''), reason] as const)
    .filter(([id]) => packs.some((pack) => id.startsWith(`${pack}-`)))
    .map(([id, reason]) => [`${node.path} ${id}`, reason]);

const rows = environments.map(withEveryOption);
const accounts = Object.fromEntries(rows.slice(1).map(({ name }, index) => [name, `11112222333${index}`]));
const { templates, found, acknowledged, targets } = withApp(
  (app) => {
    const { stacks } = app.synth();
    return {
      templates: Object.fromEntries(stacks.map(({ id, template }) => [id, template])),
      found: findingsIn(app),
      acknowledged: app.node.findAll().flatMap(acknowledgedOn),
      targets: app.node.children.map((stack) => (stack as Stack).environment),
    };
  },
  { validateTemplates: false, environments: rows, accounts },
);
const resourcesOf = (stackId: string) => Object.values<Resource>(templates[stackId].Resources);

it('the stacks with every option of the table acknowledge each finding on its resource, and nothing else', () => {
  expect(acknowledged.map(([finding]) => finding).sort()).toEqual(found.sort());
  // A sentence for a reviewer.
  for (const [finding, reason] of acknowledged)
    expect([finding, reason]).toEqual([finding, expect.stringMatching(/^[A-Z]\S*( \S+){5,}$/)]);
  for (const pack of packs) expect(found.filter((text) => text.includes(` ${pack}-`))).not.toEqual([]);
});

it('every type that the residency rules let pass is in use: an unused one would be a way out that nobody needs', () => {
  const types = Object.keys(templates).flatMap((id) => resourcesOf(id).map(({ Type }) => Type));
  expect(reviewed.filter((type) => !types.includes(type))).toEqual([]);
});

it('each stack goes to the account that the deployer sets for its environment', () => {
  const expected = rows.flatMap(({ name, region, standby }) =>
    [region, ...(standby ? [standby.region] : [])].map(
      (place) => `aws://${accounts[name] ?? 'unknown-account'}/${place}`,
    ),
  );
  expect(targets).toEqual(expected);
});

it.each(rows)(
  'the dashboard of $name links those of other environments that have custom domain names',
  (row) => {
    const links = resourcesOf(row.stackId).flatMap(
      ({ Properties }) => Properties?.Environment?.Variables?.OTHER_DASHBOARDS ?? [],
    );
    const others = rows
      .filter((other) => other !== row)
      .map(({ name, title, domainNames }) => ({
        environment: name,
        title,
        url: `https://${domainNames.dashboard}`,
      }));
    expect(links).toEqual([JSON.stringify(others)]);
  },
);

it('a finding of the packs fails the synthesis', () => {
  withApp((app) => {
    new Topic(new Stack(app, 'Test', { env: { region: 'eu-central-1' } }), 'Topic');
    addRulePacks(app);
    expect(() => app.synth()).toThrow('NIST.800.53.R5-SNSEncryptedKMS');
  });
});
