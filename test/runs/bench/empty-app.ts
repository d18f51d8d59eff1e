import { App, CfnWaitConditionHandle, Stack } from 'aws-cdk-lib';

// As many stacks as the product, each the smallest that CloudFormation accepts.
const app = new App({ analyticsReporting: false, treeMetadata: false });
for (let number = 1; number <= Number(process.env.BENCH_STACKS); number += 1) {
  const stack = new Stack(app, `Empty${number}`, { env: { region: 'eu-central-1' } });
  new CfnWaitConditionHandle(stack, 'Nothing');
}
app.synth();
