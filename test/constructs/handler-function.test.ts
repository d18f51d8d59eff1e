import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, Stack } from 'aws-cdk-lib';
import { HandlerFunction, type HandlerFunctionProps } from '../../lib/functions/handler-function';
import { withApp } from '../support/stacks';

/** The files of a function's code, by name. */
const codeOf = (props: Pick<HandlerFunctionProps, 'useCase' | 'databaseAccess'>) =>
  withApp((app) => {
    new HandlerFunction(new Stack(app, 'Test'), 'Function', {
      description: 'For a test',
      invokedBy: 'operator',
      variables: [],
      environment: {},
      timeout: Duration.seconds(3),
      logRetention: 7,
      ...props,
    });
    const folder = join(app.outdir, readdirSync(app.outdir).find((name) => name.startsWith('asset.')) ?? '');
    return Object.fromEntries(
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    );
  });

it.each([
  ['data-api', 'ExecuteStatement', 'SASL: '],
  ['direct', 'SASL: ', 'ExecuteStatement'],
] as const)(
  'a bundle with access %s is one file with that client of the database, and no other',
  (access, has, lacks) => {
    const { 'index.js': code, ...others } = codeOf({ useCase: 'purge-expired', databaseAccess: access });
    expect(others).toEqual({});
    expect(code).toContain(has);
    expect(code).not.toContain(lacks);
  },
);

it('variables without a value, or values without a variable, do not compile', () => {
  const complete = (values: HandlerFunctionProps<'A' | 'B'>['environment']) => values;
  // @ts-expect-error B is missing
  complete({ A: '1' });
  // @ts-expect-error C is unknown
  complete({ A: '1', B: '2', C: '3' });
  expect(complete({ A: '1', B: '2' })).toEqual({ A: '1', B: '2' });
});
