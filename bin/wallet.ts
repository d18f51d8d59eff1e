import './node-version';
import './uncaught';
import { runCommandLine } from '../cli/command-line';
import { createTerminal } from '../cli/shell/terminal';

// Versions are pinned in package.json; the SDK's notice about later versions is noise to an operator.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

let lostOutput = false;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (lostOutput) return;
    lostOutput = true;
    // A closed pipe, as after `| head`: a command with a cleanup runs it, any other exits here. A move of the webhook
    // origin continues: webhooks wait between its two updates.
    if (code === 'EPIPE' && process.argv[2] !== 'move-origin') process.kill(process.pid, 'SIGTERM');
  });
}

const terminal = createTerminal(process.stdout, process.stderr, process.stdin);
void runCommandLine(process.argv.slice(2), terminal, process.env).then((exitCode) => {
  process.exitCode = exitCode || Number(lostOutput);
});
