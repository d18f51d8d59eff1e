import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, Stack } from 'aws-cdk-lib';
import { HandlerFunction } from '../../lib/functions/handler-function';
import { withApp } from '../support/stacks';

it.each([
  ['data-api', 'ExecuteStatement', 'SASL: '],
  ['direct', 'SASL: ', 'ExecuteStatement'],
] as const)(
  'a bundle with access %s is one file, with no other client of the database',
  (access, has, lacks) => {
    withApp((app) => {
      new HandlerFunction(new Stack(app, 'Test'), 'Function', {
        useCase: 'purge-expired',
        databaseAccess: access,
        description: 'For a test',
        invokedBy: 'operator',
        variables: [],
        environment: {},
        timeout: Duration.seconds(3),
        logRetention: 7,
      });
      const folder = join(
        app.outdir,
        readdirSync(app.outdir).find((name) => name.startsWith('asset.')) ?? '',
      );
      expect(readdirSync(folder)).toEqual(['index.js']);
      const code = readFileSync(join(folder, 'index.js'), 'utf8');
      expect(code).toContain(has);
      expect(code).not.toContain(lacks);
    });
  },
);
