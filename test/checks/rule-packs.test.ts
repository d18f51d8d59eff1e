import { type App, CfnResource, Stack, Validations } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct, type IConstruct } from 'constructs';
import { acknowledge } from '../../lib/checks/acknowledgements';
import { addRulePacks, rulePacks } from '../../lib/checks/rule-packs';
import { environmentsWithEveryOption, withApp } from '../support/stacks';

const packs = ['AwsSolutions', 'NIST.800.53.R5', 'PCI.DSS.321'];

interface Finding {
  readonly path: string;
  readonly id: string;
}

interface Acknowledgement extends Finding {
  readonly construct: IConstruct;
  readonly reason: string;
}

describe('the stacks', () => {
  const { findings, acknowledgements, open } = withApp(
    (app) => {
      app.synth();
      return {
        open: findingsIn(app),
        findings: findingsIn(app, { despiteAcknowledgements: true }),
        acknowledgements: acknowledgementsIn(app),
      };
    },
    { validateTemplates: false },
  );

  it('have no unacknowledged finding', () => {
    expect(open).toEqual([]);
  });

  it('have none with every option of the table enabled', () => {
    withApp(
      (app) => {
        app.synth();
        expect(findingsIn(app)).toEqual([]);
      },
      { validateTemplates: false, environments: environmentsWithEveryOption() },
    );
  });

  it('are checked by all packs', () => {
    for (const pack of packs) expect(findings.filter(({ id }) => id.startsWith(`${pack}-`))).not.toEqual([]);
  });

  it('acknowledge only existing findings, so that no reason becomes stale', () => {
    expect(namesOf(acknowledgements)).toEqual(namesOf(findings));
  });

  it('acknowledge findings on resources, never on a stack or the app', () => {
    expect(namesOf(acknowledgements.filter(({ construct }) => !isResource(construct)))).toEqual([]);
  });
});

describe('synthesis', () => {
  // Packs only: CloudFormation's own rules are slow.
  const { CDK_VALIDATION } = process.env;
  beforeAll(() => {
    process.env.CDK_VALIDATION = 'false';
  });
  afterAll(() => {
    if (CDK_VALIDATION === undefined) delete process.env.CDK_VALIDATION;
    else process.env.CDK_VALIDATION = CDK_VALIDATION;
  });

  const refused = (breakRule: (stack: Stack) => void) =>
    withApp((app) => {
      breakRule(new Stack(app, 'Test', { env: { region: 'eu-central-1' } }));
      addRulePacks(app);
      return messageOf(() => app.synth());
    });

  it.each<[string, Finding, (stack: Stack) => void]>([
    [
      'a topic that is not encrypted',
      { path: 'Test/Topic/Resource', id: 'NIST.800.53.R5-SNSEncryptedKMS' },
      (stack) => new Topic(stack, 'Topic'),
    ],
    [
      'a log group that is not encrypted',
      { path: 'Test/Log/Resource', id: 'PCI.DSS.321-CloudWatchLogGroupEncrypted' },
      (stack) => new LogGroup(stack, 'Log'),
    ],
  ])('refuses %s', (_, finding, breakRule) => {
    expect(findingsOf(refused(breakRule))).toContainEqual(finding);
  });

  it('acknowledges one finding on one resource only', () => {
    const message = refused((stack) => {
      const role = new Role(stack, 'Role', wide);
      role.addToPolicy(everything);
      new Role(stack, 'Other', wide).addToPolicy(everything);
      const policy = role.node.findChild('DefaultPolicy');
      acknowledge(policy, 'networkInterfaces');
    });
    expect(namesOf(findingsOf(message).filter(({ id }) => id.startsWith('AwsSolutions')))).toEqual([
      'Test/Other/DefaultPolicy/Resource AwsSolutions-IAM5[Action::s3:*]',
      'Test/Other/DefaultPolicy/Resource AwsSolutions-IAM5[Resource::*]',
      'Test/Role/DefaultPolicy/Resource AwsSolutions-IAM5[Action::s3:*]',
    ]);
  });

  it('acknowledges nothing on a construct without a resource', () => {
    withApp((app) => {
      expect(() => acknowledge(new Construct(app, 'Nothing'), 'inlinePolicy')).toThrow(
        'Nothing has no CloudFormation resource to acknowledge rules on',
      );
    });
  });
});

const wide = { assumedBy: new ServicePrincipal('lambda.amazonaws.com') };
const everything = new PolicyStatement({ effect: Effect.ALLOW, actions: ['s3:*'], resources: ['*'] });

function findingsIn(app: App, { despiteAcknowledgements = false } = {}): Finding[] {
  return rulePacks(app).flatMap((pack) => {
    // The packs cannot list what was acknowledged.
    if (despiteAcknowledgements) Object.assign(pack, { isAcknowledged: () => false });
    return pack
      .validateScope(app)
      .violations.flatMap(({ ruleName, violatingResources }) =>
        violatingResources.map(({ constructPath = '' }) => ({ id: ruleName, path: constructPath })),
      );
  });
}

function acknowledgementsIn(app: App): Acknowledgement[] {
  return app.node.findAll().flatMap((construct) =>
    construct.node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) =>
        Object.entries(data as Record<string, string>).map(([id, reason]) => ({
          construct,
          path: construct.node.path,
          id: id.replace(/^annotation::/i, ''),
          reason,
        })),
      )
      // The CDK acknowledges findings of CloudFormation's own rules on its resources.
      .filter(({ id }) => packs.some((pack) => id.startsWith(`${pack}-`))),
  );
}

const namesOf = (findings: readonly Finding[]) => findings.map(({ path, id }) => `${path} ${id}`).sort();

const isResource = (construct: IConstruct) => CfnResource.isCfnResource(construct);

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

/** The findings of a report, in order. */
function findingsOf(report: string): Finding[] {
  const lines = report.matchAll(/^\s*(\S+) \S+\n\s*Acknowledge with '[^:]+::(.*)'$/gm);
  return Array.from(lines, ([, path = '', id = '']) => ({ path, id }));
}
