import type { DatabaseAccess } from '../../../lambda/database/environment';
import { LocalCloud } from '../../support/local-cloudformation';
import { first } from '../../support/rows';
import { type StackTemplate, synthesizeStacks } from '../../support/stacks';
import { wallet } from '../region';

const templates = new Map<DatabaseAccess, StackTemplate>();

/** The first environment of the table, deployed from the template that is synthesized for it, in zone 1. */
export async function deploy(databaseAccess: DatabaseAccess = 'data-api'): Promise<LocalCloud> {
  const template =
    templates.get(databaseAccess) ?? synthesizeStacks([{ ...first, databaseAccess }])[first.name];
  if (!template) throw new Error(`No template of ${first.name}`);
  templates.set(databaseAccess, template);
  return LocalCloud.start(first.stackId, template.json);
}

/** Runs `wallet move-origin`, with questions about the progress so often that no test waits. */
export const moveOrigin = (cloud: LocalCloud, ...args: string[]) =>
  wallet('move-origin', '--outputs', cloud.outputs, '--interval', '0.001', ...args);

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
