import type { Command } from 'commander';
import type { Terminal } from '../terminal';
import { register as registerAdd } from './add';
import { register as registerEnableAndDisable } from './enable-disable';
import { register as registerList } from './list';
import { register as registerRemove } from './remove';
import { register as registerRotate } from './rotate';
import { register as registerSecret } from './secret';
import { register as registerShow } from './show';
import { register as registerTest } from './test';
import { register as registerUpdate } from './update';

const commands = [
  registerAdd,
  registerList,
  registerShow,
  registerUpdate,
  registerTest,
  registerSecret,
  registerRotate,
  registerEnableAndDisable,
  registerRemove,
];

const help = `
Examples:
  wallet webhook add --organization or-… --url https://hooks.customer.com/wallet
  wallet webhook list --organization or-…
  wallet webhook test --webhook wh-…
  wallet webhook rotate --webhook wh-…`;

export function register(program: Command, terminal: Terminal): void {
  const group = program
    .command('webhook')
    .usage('COMMAND [options]')
    .summary('add, show, change, test, disable and remove webhooks')
    .description('Manages the webhooks of organizations: where events go, and the secrets that sign them.')
    .addHelpText('after', help);
  for (const registerCommand of commands) registerCommand(group, terminal);
}
