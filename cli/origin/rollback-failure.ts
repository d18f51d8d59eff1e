import type { UpdateEvent } from './stack-events';

/** What a rollback could not undo: the last event of each resource in it that failed. */
export function failuresOfRollback(events: readonly UpdateEvent[]): readonly UpdateEvent[] {
  const began = events.findLastIndex(
    ({ ofStack, status }) => ofStack && status === 'UPDATE_ROLLBACK_IN_PROGRESS',
  );
  const ofRollback = events.slice(began).filter(({ ofStack }) => !ofStack);
  const last = new Map(ofRollback.map((event) => [event.logicalId, event]));
  return [...last.values()].filter(({ status }) => status === 'UPDATE_FAILED');
}

/** What a move changes, and a skip may leave to the next one: gateway, routes to it, and consumers. */
const isOfOrigin = ({ type, logicalId }: UpdateEvent): boolean =>
  type === 'AWS::Lambda::EventSourceMapping' ||
  (type === 'AWS::EC2::NatGateway' && logicalId === 'WebhookOriginNatGateway') ||
  // A public subnet's default route leads to the internet gateway.
  (type === 'AWS::EC2::Route' && /PrivateSubnet\d+DefaultRoute/.test(logicalId));

/** Logical ids. */
export const skippable = (failures: readonly UpdateEvent[]): readonly string[] =>
  failures.filter(isOfOrigin).map(({ logicalId }) => logicalId);

export const othersOf = (failures: readonly UpdateEvent[]): readonly UpdateEvent[] =>
  failures.filter((event) => !isOfOrigin(event));
