import { createApp } from '../../lib/app';
import { swappedEnvironments } from './swapped-environments';

createApp({ environments: swappedEnvironments, validateTemplates: false }).synth();
