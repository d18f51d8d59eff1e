/**
 * Lists, for a matrix, the environments whose GitHub environment for reading exists, and fails if one is not protected: GitHub
 * creates a job's missing GitHub environment, without protection.
 */
import { readFileSync } from 'node:fs';
import { githubEnvironments } from '../domain/workflow-roles';
import { environments } from '../lib/environments';
import { find, output, step, summarize } from './github';
import { requireProtection } from './require-protection';

/** The bootstrap's default. https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html#bootstrapping-custom-synth */
const defaultQualifier = 'hnb659fds';

export async function run(): Promise<void> {
  const { context = {} } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const qualifier: string = context['@aws-cdk/core:bootstrapQualifier'] ?? defaultQualifier;
  const listed = [];
  for (const { name, region } of environments) {
    const { read } = githubEnvironments(name);
    if (await find(`environments/${read}`)) {
      await requireProtection(name, 'read');
      listed.push({ environment: name, region, qualifier });
    } else summarize(`Skipped ${name}: the repository has no GitHub environment ${read}.`);
  }
  output({ environments: JSON.stringify(listed) });
}

step(module, run);
