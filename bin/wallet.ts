import './uncaught';
import { runCommandLine } from '../cli/command-line';
import { createTerminal } from '../cli/shell/terminal';

// Versions are pinned in package.json; the SDK's notice about later versions is noise to an operator.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

// A move goes on when nobody reads its output any more, because webhooks wait between its two updates. Its result then goes to stderr.
const isMove = process.argv[2] === 'move-origin';
let lostResults = false;
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (lostResults || isMove) return;
  lostResults = true;
  // The reader has gone, as after `| head`. SIGTERM lets a command clean up; cut help is no failure.
  if (process.argv.some((word) => /^(-h|--help|help|--version)$/.test(word))) process.exit(0);
  if (code === 'EPIPE') process.kill(process.pid, 'SIGTERM');
});
// Without a reader of the notes, the result counts.
process.stderr.on('error', () => undefined);

const stdout = {
  write: (text: string) =>
    process.stdout.write(text, (error) => error && isMove && process.stderr.write(text)),
  hasColors: () => process.stdout.isTTY && process.stdout.hasColors(),
  columns: Number(process.env.COLUMNS) || process.stdout.columns,
};
const terminal = createTerminal(stdout, process.stderr);
void runCommandLine(process.argv.slice(2), terminal, process.env).then((exitCode) => {
  process.exitCode = exitCode || Number(lostResults);
});
