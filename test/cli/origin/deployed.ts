import { PassThrough } from 'node:stream';
import type { Environment } from '../../../lib/environment/environment';
import { LocalCloud } from '../../support/local-cloudformation';
import { withoutReserve } from '../../support/rows';
import { type StackTemplate, synthesizeStacks } from '../../support/stacks';
import { runWallet } from '../../support/wallet-command';
import { wallet } from '../region';

const templates = new Map<string, StackTemplate>();

/**
 * The first environment of the table, deployed from the template that is synthesized for it, in zone 1.
 *
 * @param differences what the row has otherwise
 */
export async function deploy(
  differences: Partial<Environment> = { databaseAccess: 'data-api' },
): Promise<LocalCloud> {
  const key = JSON.stringify(differences);
  const template =
    templates.get(key) ?? synthesizeStacks([{ ...withoutReserve, ...differences }])[withoutReserve.name];
  if (!template) throw new Error(`No template of ${withoutReserve.name}`);
  templates.set(key, template);
  return LocalCloud.start(withoutReserve.stackId, template.json);
}

/** Runs `wallet move-origin`, with questions about the progress so often that no test waits. */
export const moveOrigin = (cloud: LocalCloud, ...args: string[]) =>
  wallet('move-origin', '--outputs', cloud.outputs, '--interval', '0.001', '--timeout', '20s', ...args);

/** Runs the command line with a person at the keyboard, who answers each question: the last answer to all that follow. */
export function withKeyboard(cloud: LocalCloud, args: readonly string[], ...answers: string[]) {
  const keyboard = Object.assign(new PassThrough(), { isTTY: true });
  const usual = cloud.fate;
  cloud.fate = (call) => {
    if (keyboard.readableLength === 0)
      keyboard.write(`${answers.length > 1 ? answers.shift() : answers[0]}\n`);
    return usual(call);
  };
  return runWallet(args, { stdin: keyboard }).finally(() => {
    cloud.fate = usual;
  });
}

/** Has the command see the time of the cloud, which passes with each call. End it with `jest.restoreAllMocks`. */
export function keepTimeWith({ stack }: LocalCloud): void {
  jest.spyOn(Date, 'now').mockImplementation(() => stack.now);
}

/** Where the address, the gateway and the delivery's consumer are, as the account has it. */
export function facts({ account, stack }: LocalCloud) {
  const [address] = account.addresses.values();
  const gateways = [...account.gateways.values()].filter(
    ({ state }) => state !== 'deleted' && state !== 'failed',
  );
  return {
    address: address?.address,
    heldBy: address?.heldBy,
    gateways: gateways.map(({ id }) => id),
    zones: gateways.map(({ subnetId }) => account.subnets.get(subnetId)),
    consumers: [...account.mappings.values()].map(({ state }) => state),
    egress: account.egress,
    zone: stack.parameters.WebhookOriginZone,
    status: stack.status,
  };
}
