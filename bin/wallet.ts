import { runCommandLine } from '../lib/operations/command-line';
import { createTerminal } from '../lib/operations/terminal';

// Versions are pinned in package.json; what later versions of the SDK will ask for is no news to an operator.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const terminal = createTerminal(process.stdout, process.stderr, process.stdin);
void runCommandLine(process.argv.slice(2), terminal).then((exitCode) => {
  process.exitCode = exitCode;
});
