import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { readAssembly } from '../../../local/assembly/manifest';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();

function synthesize(build: (app: App) => void): string {
  const outdir = join(folder(), 'cdk.out');
  const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false });
  build(app);
  return app.synth().directory;
}

it('reads region, template and code folders of a stack', () => {
  const code = mkdtempSync(join(folder(), 'bundle-'));
  writeFileSync(join(code, 'index.js'), 'exports.handler = () => "hello";');
  const [eu] = readAssembly(
    synthesize((app) => {
      const stack = new Stack(app, 'WalletEu', { env: { region: 'eu-central-1' } });
      const [handler, runtime] = ['index.handler', Runtime.NODEJS_24_X];
      new LambdaFunction(stack, 'Greet', { code: Code.fromAsset(code), handler, runtime });
    }),
  );
  expect(eu).toMatchObject({ name: 'WalletEu', environment: 'WalletEu', region: 'eu-central-1' });
  const functions = Object.values(eu?.template.Resources ?? {}).filter(({ Type }) => /Function$/.test(Type));
  const assets = functions.map(({ Properties }) => eu?.assets.get(Properties?.Code.S3Key) ?? '');
  expect(assets.map((asset) => readFileSync(join(asset, 'index.js'), 'utf8'))).toEqual([
    expect.stringContaining('hello'),
  ]);
});

it('refuses a stack without a fixed region', () => {
  const assembly = synthesize((app) => {
    new CfnOutput(new Stack(app, 'Anywhere'), 'Nothing', { value: '1' });
  });
  expect(() => readAssembly(assembly)).toThrow('The stack Anywhere has no region.');
});
