import { CfnGuardValidator } from '@cdklabs/cdk-validator-cfnguard';
import { type App, CfnResource, Stack, Validations } from 'aws-cdk-lib';
import { controlTower } from '../../lib/checks/acknowledgements';
import { environments } from '../../lib/environments';
import { withEveryOption } from '../support/rows';
import { withApp } from '../support/stacks';

// 314 rules on every template.
jest.setTimeout(600_000);

/** What AWS Control Tower's proactive rules find in the app's templates, each as `path rule`, named as in its documentation. */
function findingsIn(app: App): string[] {
  const { stacks } = app.synth();
  const resources = app.node.findAll().filter(CfnResource.isCfnResource);
  const paths = new Map(
    resources.map((each) => {
      const stack = Stack.of(each);
      return [`${stack.templateFile} ${stack.resolve(each.logicalId)}`, each.node.path];
    }),
  );
  const guard = new CfnGuardValidator({ maxBuffer: 256 * 1024 ** 2 });
  const found = stacks.flatMap(({ templateFile, templateFullPath }) => {
    const { violations } = guard.validate({ appConstruct: app, templatePaths: [templateFullPath] });
    return violations.flatMap(({ description, violatingResources }) => {
      const [, rule] = /\[(CT\.[\w.]+)\]/.exec(description) ?? [];
      return violatingResources.map(
        ({ resourceLogicalId: id }) => `${paths.get(`${templateFile} ${id}`)} ${rule}`,
      );
    });
  });
  // A rule names a resource once for each of its conditions.
  return [...new Set(found)].sort();
}

it("the stacks with every option of the table pass AWS Control Tower's proactive rules, or acknowledge each finding on its resource, and nothing else", () => {
  withApp(
    (app) => {
      const found = findingsIn(app);
      const acknowledged = app.node.findAll().flatMap(({ node }) =>
        node.metadata
          .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
          .flatMap(({ data }) => Object.keys(data))
          .flatMap((id) => (id.startsWith(`${controlTower}::`) ? [`${node.path} ${id.split('::')[1]}`] : [])),
      );
      expect(acknowledged.sort()).toEqual(found);
      expect(found).not.toEqual([]);
    },
    { validateTemplates: false, environments: environments.map(withEveryOption) },
  );
});
