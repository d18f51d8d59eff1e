import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, CfnOutput, CfnParameter, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { readAssembly } from '../../../local/assembly/manifest';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();

function synthesize(build: (app: App) => void): string {
  const app = new App({
    outdir: join(folder(), 'cdk.out'),
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
  });
  build(app);
  return app.synth().directory;
}

it('reads region, template and code folders of each stack', () => {
  const code = mkdtempSync(join(folder(), 'bundle-'));
  writeFileSync(join(code, 'index.js'), 'exports.handler = () => "hello";');
  const [eu, uae] = readAssembly(
    synthesize((app) => {
      const stack = new Stack(app, 'WalletEu', { env: { region: 'eu-central-1' } });
      new LambdaFunction(stack, 'Greet', {
        code: Code.fromAsset(code),
        handler: 'index.handler',
        runtime: Runtime.NODEJS_24_X,
      });
      const other = new Stack(app, 'WalletUae', { env: { region: 'me-central-1' } });
      new CfnOutput(other, 'Zone', {
        value: new CfnParameter(other, 'Zone1', { default: '1' }).valueAsString,
      });
    }),
  );
  expect([eu, uae].map((stack) => [stack?.name, stack?.region])).toEqual([
    ['WalletEu', 'eu-central-1'],
    ['WalletUae', 'me-central-1'],
  ]);
  const greet = Object.values(eu?.template.Resources ?? {}).find(
    ({ Type }) => Type === 'AWS::Lambda::Function',
  );
  const { S3Key = '' } = (greet?.Properties?.Code ?? {}) as { S3Key?: string };
  expect(readFileSync(join(eu?.assets.get(S3Key) ?? '', 'index.js'), 'utf8')).toContain('hello');
  expect(uae?.template.Outputs).toEqual({ Zone: { Value: { Ref: 'Zone1' } } });
});

it('refuses a stack without a fixed region', () => {
  const assembly = synthesize((app) => {
    new CfnOutput(new Stack(app, 'Anywhere'), 'Nothing', { value: '1' });
  });
  expect(() => readAssembly(assembly)).toThrow('The stack Anywhere has no region.');
});
