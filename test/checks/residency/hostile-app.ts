import { Key } from 'aws-cdk-lib/aws-kms';
import { createApp } from '../../../lib/app';

const [outdir = '', stackId = ''] = process.argv.slice(2);
const app = createApp({ outdir, validateTemplates: false });
new Key(app.node.findChild(stackId), 'Everywhere', { multiRegion: true });
app.synth();
