import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, Stack } from 'aws-cdk-lib';
import type { DatabaseAccess } from '../../lambda/database/environment';
import { handlerNames } from '../../lib/functions/bundles';
import { HandlerFunction } from '../../lib/functions/handler-function';
import { packageFolders } from '../support/bundled-packages';
import { synthesizeStacks, withApp } from '../support/stacks';

/** What only the code of the RDS Data API's client has, and only that of `pg`. */
const signs = ['ExecuteStatement', 'SASL: '];

const stacks = synthesizeStacks();

describe.each(Object.entries(stacks))('each function of %s', (_, stack) => {
  const lambdas = stack.all('AWS::Lambda::Function');
  const ours = lambdas.filter(({ Properties }) => Properties.Handler === 'index.handler');

  it('logs JSON into its own group with the retention of the table', () => {
    const groups = lambdas.map(({ Properties }) => Properties.LoggingConfig);
    for (const { LogFormat, LogGroup } of groups) {
      expect(LogFormat).toBe('JSON');
      expect(stack.get(LogGroup.Ref).Properties.RetentionInDays).toBe(stack.environment.logRetentionDays);
    }
    expect(new Set(groups.map(({ LogGroup }) => LogGroup.Ref)).size).toBe(lambdas.length);
  });

  it('has its own role without managed policies', () => {
    const roles = lambdas.map(({ Properties }) => Properties.Role['Fn::GetAtt'][0]);
    expect(new Set(roles).size).toBe(lambdas.length);
    for (const role of roles) expect(stack.get(role).Properties.ManagedPolicyArns).toBeUndefined();
  });

  it('may act on named resources only, except for the network interfaces that Lambda makes with its role', () => {
    for (const lambda of lambdas) {
      const [wide, ...others] = stack
        .statementsOf(lambda)
        .filter(
          ({ Effect, Resource, Action }) =>
            Effect === 'Allow' && ([Resource].flat().includes('*') || JSON.stringify(Action).includes('*')),
        );
      expect(others).toEqual([]);
      expect(wide === undefined).toBe(lambda.Properties.VpcConfig === undefined);
      for (const action of wide?.Action ?? [])
        expect(action).toMatch(/^ec2:\w+(NetworkInterfaces?|PrivateIpAddresses|Subnets)$/);
    }
  });

  it('denies its code what Lambda needs for network interfaces', () => {
    for (const lambda of lambdas.filter(({ Properties }) => Properties.VpcConfig)) {
      const statements = stack.statementsOf(lambda);
      const allowed = statements.find(({ Effect, Resource }) => Effect === 'Allow' && Resource === '*');
      const denied = statements.find(({ Effect }) => Effect === 'Deny');
      expect(denied.Action).toEqual(allowed.Action);
      expect(denied.Condition.ArnLike['lambda:SourceFunctionArn']['Fn::Join'][1].slice(-3)).toEqual([
        ':function:',
        { Ref: 'AWS::StackName' },
        '-*',
      ]);
    }
  });

  it('writes its own log only', () => {
    for (const lambda of ours) {
      const [own] = stack.statementsOf(lambda);
      expect(own).toEqual({
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: { 'Fn::GetAtt': [lambda.Properties.LoggingConfig.LogGroup.Ref, 'Arn'] },
      });
    }
  });
});

describe('a handler function', () => {
  const props = {
    description: 'For a test',
    invokedBy: 'operator',
    variables: [],
    environment: {},
    timeout: Duration.seconds(3),
    logRetention: 7,
  } as const;

  it('is one file, index.js, with a handler', () => {
    withApp((app) => {
      new HandlerFunction(new Stack(app, 'Test'), 'ExportJwks', { ...props, useCase: 'export-jwks' });
      const [asset = ''] = readdirSync(app.outdir).filter((name) => name.startsWith('asset.'));
      expect(readdirSync(join(app.outdir, asset))).toEqual(['index.js']);
      expect(readFileSync(join(app.outdir, asset, 'index.js'), 'utf8')).toMatch(/handler/);
    });
  });

  it.each<[DatabaseAccess, string]>([
    ['data-api', 'ExecuteStatement'],
    ['direct', 'SASL: '],
  ])('contains the client of its access to the database, which is %s, and no other', (access, sign) => {
    withApp((app) => {
      const own = { ...props, useCase: 'purge-expired', databaseAccess: access };
      new HandlerFunction(new Stack(app, 'Test'), 'PurgeExpired', own);
      const [asset = ''] = readdirSync(app.outdir).filter((name) => name.startsWith('asset.'));
      const code = readFileSync(join(app.outdir, asset, 'index.js'), 'utf8');
      expect(signs.filter((each) => code.includes(each))).toEqual([sign]);
    });
  });

  it('takes credentials from its variables, and has no client for anything else that has some', () => {
    const files = handlerNames().map((name) => `lambda/${name}/handler.ts`);
    const providers = packageFolders(files).filter((folder) =>
      /credential-provider-|nested-clients/.test(folder),
    );
    expect(providers).toEqual(['node_modules/@aws-sdk/credential-provider-env']);
  });

  it('needs a handler to exist, and names those that do', () => {
    withApp((app) => {
      const make = () =>
        new HandlerFunction(new Stack(app, 'Test'), 'Absent', { ...props, useCase: 'mint-money' });
      expect(make).toThrow(/no lambda\/mint-money\/handler\.ts.*delete-user-group/);
    });
  });

  it('does not compile without a value for each variable, or with one more', () => {
    const complete = (values: ConstructorParameters<typeof HandlerFunction<'A' | 'B'>>[2]['environment']) =>
      values;
    // @ts-expect-error B is missing
    complete({ A: '1' });
    // @ts-expect-error C is unknown
    complete({ A: '1', B: '2', C: '3' });
    expect(complete({ A: '1', B: '2' })).toEqual({ A: '1', B: '2' });
  });
});
