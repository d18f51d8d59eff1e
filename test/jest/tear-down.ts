export { tearDown as default } from './test-run';
