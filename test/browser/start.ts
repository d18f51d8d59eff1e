import startLocalEnvironment from '../support/start-local-environment';
import { chromiumPath } from './chromium';

/** Starts all environments, once it is known that there is a browser to look at them with. */
export default function start(): void {
  chromiumPath();
  startLocalEnvironment();
}
