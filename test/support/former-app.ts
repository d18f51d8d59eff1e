import { createApp } from '../../lib/app';
import { formerEnvironment } from './restored-app';

/** The row before its restore. */
createApp({ environments: [formerEnvironment], validateTemplates: false }).synth();
