import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes } from '../../domain/routes';
import { projectRoot } from '../architecture/sources';
import { first } from '../support/rows';
import { stackOf } from '../support/stacks';

const page = readFileSync(join(projectRoot, 'docs/runbook/emergencies.md'), 'utf8');
const [, section = ''] = /\n## Restore to a point in time\n([\s\S]*?)\n## /.exec(page) ?? [];
const found = (pattern: RegExp) => Array.from(section.matchAll(pattern), ([, text = '']) => text);
const stack = stackOf(first);

it('throttles each method with settings of its own, but for the check of our own webhooks', () => {
  const { MethodSettings } = stack.named('AWS::ApiGateway::Stage', 'Api').Properties;
  type Setting = Readonly<Record<'ResourcePath' | 'HttpMethod', string>>;
  const ofCheck = `/${routes.checkDelivery.path.replaceAll('/', '~1')}/POST`;
  const methods = MethodSettings.map(
    ({ ResourcePath, HttpMethod }: Setting) => `${ResourcePath}/${HttpMethod}`,
  );
  expect(methods).toContain(ofCheck);
  for (const limit of ['rateLimit', 'burstLimit'])
    expect(found(new RegExp(`path='?(/[^,']*)/throttling/${limit}`, 'g')).sort()).toEqual(
      methods.filter((method: string) => method !== ofCheck).sort(),
    );
});

it('closes the one function that preflight finds by its logical id', () => {
  const { logicalId } = stack.named('AWS::Lambda::Function', 'DeleteUserGroup');
  expect(logicalId).toMatch(/^DeleteUserGroup[0-9A-F]{8}$/);
  expect(section).toContain('`DeleteUserGroup…`');
});
