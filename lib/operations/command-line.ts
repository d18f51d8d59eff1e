import { Command, CommanderError } from 'commander';
import { register as registerAudit } from './audit';
import { register as registerDeliveries } from './deliveries';
import { register as registerEnvironments } from './environments';
import { CommandFailed } from './failure';
import { register as registerMoveOrigin } from './move-origin';
import { register as registerOriginStatus } from './origin-status';
import { register as registerOrigins } from './origins';
import { register as registerReceive } from './receive';
import { register as registerRedeliver } from './redeliver';
import { register as registerSeed } from './seed';
import { register as registerSendEvent } from './send-event';
import { register as registerSmoke } from './smoke';
import type { Terminal } from './terminal';
import { register as registerToken } from './token';
import { register as registerUserAction } from './user-action';
import { register as registerWebhook } from './webhook';

/** In the order of the help. Each adds its command to the program. */
const commands = [
  registerEnvironments,
  registerSeed,
  registerToken,
  registerUserAction,
  registerAudit,
  registerWebhook,
  registerReceive,
  registerSendEvent,
  registerDeliveries,
  registerRedeliver,
  registerOrigins,
  registerOriginStatus,
  registerMoveOrigin,
  registerSmoke,
];

const help = `
A first deletion, on this machine:
  npm start                                         in another terminal, until it says "ready"
  npm run -s wallet -- seed                         makes a user group and those who may delete it
  TOKEN=$(npm run -s wallet -- token --caller us-…)
  ACTION=$(npm run -s wallet -- user-action --caller us-… --method DELETE --path /auth/user-groups/ug-…)
  curl -i -X DELETE http://127.0.0.1:8001/auth/user-groups/ug-… \\
    -H "Authorization: Bearer $TOKEN" -H "X-SVC-USERACTION: $ACTION"

A first webhook, on this machine:
  npm run -s wallet -- receive                      in another terminal: prints what arrives
  npm run -s wallet -- webhook add --organization or-… --url http://127.0.0.1:8010/
  npm run -s wallet -- send-event --organization or-… --kind wallet.created --data '{"walletId":"wa-1"}'

On a deployed environment:
  npx cdk deploy WalletUae --outputs-file outputs.json
  AWS_PROFILE=wallet-uae npm run -s wallet -- seed --environment uae --outputs outputs.json --allow-production

Results go to stdout, everything else to stderr. "npm run" itself writes to stdout unless it is told -s.
Exit codes: 0 done, 1 failed (stderr says why), 2 used wrongly.`;

/** Runs one command and returns the exit code of the process: 0, 1 (it failed) or 2 (used wrongly). */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command('wallet')
    .description('Operates the environments of the wallet infrastructure, on this machine or deployed.')
    .usage('COMMAND [options]')
    .addHelpText('after', help)
    .showHelpAfterError('Add --help for the options and examples.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.result(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
      outputError: (text, write) => write(terminal.alarm(text)),
    });
  for (const register of commands) register(program, terminal);

  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, terminal);
  }
}

function report(error: unknown, terminal: Terminal): number {
  // Commander has written its message already. It exits with 1 for what is used wrongly, with 0 after help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CommandFailed) {
    terminal.note(terminal.alarm(`error: ${error.message}`));
    if (error.remedy) terminal.note(error.remedy);
    return error.exitCode;
  }
  terminal.note(terminal.alarm('error: this is a bug of the command line.'));
  terminal.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}
