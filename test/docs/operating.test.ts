import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { first, withDirectAccess } from '../support/rows';
import { stackOf } from '../support/stacks';

it('operating.md has the limits of webhooks, firewall and throttle as they are', () => {
  const rows = readFileSync(join(projectRoot, 'docs/operating.md'), 'utf8').matchAll(
    /^\| (.*) \| (.*) \| .* \|$/gm,
  );
  const limits = new Map(Array.from(rows, ([, limit = '', value = '']) => [limit, value]));
  const migration = readFileSync(
    join(projectRoot, 'lambda/database/migrations/0002-webhook-limit-and-events.sql'),
  );
  const webhooks = limits.get('enabled webhooks of an organization');
  expect(String(migration)).toContain(`>= ${webhooks} then`);
  const rules = stackOf(withDirectAccess).only('AWS::WAFv2::WebACL').Properties.Rules;
  const rate = rules.find(({ Name }: { Name: string }) => Name === 'RequestsPerAddress').Statement
    .RateBasedStatement;
  expect(limits.get('requests from one address in five minutes, to API and dashboard')).toBe(
    `${rate.Limit.toLocaleString('en')}, then 403 \`request_blocked\``,
  );
  const { requestsPerSecond, burst } = first.throttle;
  expect(limits.get('requests a second to the API; burst')).toContain(`${requestsPerSecond}; ${burst}`);
});
