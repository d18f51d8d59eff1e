import type { Command } from 'commander';
import type { Terminal } from '../terminal';
import { register as registerAdd } from './add';
import { register as registerEnableAndDisable } from './enable-disable';
import { register as registerList } from './list';
import { register as registerRotate } from './rotate';
import { register as registerSecret } from './secret';

const commands = [registerAdd, registerList, registerSecret, registerRotate, registerEnableAndDisable];

const help = `
Examples:
  wallet webhook add --organization or-… --url https://hooks.customer.com/wallet
  wallet webhook list --organization or-…
  wallet webhook rotate --webhook wh-…`;

export function register(program: Command, terminal: Terminal): void {
  const group = program
    .command('webhook')
    .usage('COMMAND [options]')
    .summary('add, list, rotate, disable and enable webhooks')
    .description('Manages the webhooks of organizations: where events go, and the secrets that sign them.')
    .addHelpText('after', help);
  for (const registerCommand of commands) registerCommand(group, terminal);
}
