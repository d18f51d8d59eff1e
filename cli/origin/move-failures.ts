import { CommandFailed } from '../failure';
import { tellHolder } from './address-holder';
import type { OriginApis } from './apis';
import { noZone, type Place, placeInWords } from './place';
import { addressAt, describeStack, type OriginStack } from './stack';
import { cancelCommand, isReady } from './stack-status';
import type { UpdateEnd } from './wait-for-update';

/** A failed update leaves the stack where it was. Where that is decides whether webhooks go out. */
export async function updateFailed(
  apis: OriginApis,
  place: Place | undefined,
  end: UpdateEnd,
): Promise<CommandFailed> {
  const stack = await describeStack(apis);
  const causes = end.failures.map((cause) => `\n  ${cause}`).join('');
  const what = place ? `The update to ${placeInWords(place)}` : 'The rollback';
  const message = `${what} failed; stack ${stack.name} is ${end.status}.${causes}`;
  if (end.status !== 'UPDATE_ROLLBACK_COMPLETE') {
    return new CommandFailed(message, 'Run this command again: it says what the stack needs.');
  }
  return new CommandFailed(
    message,
    stack.zone === noZone
      ? 'No gateway holds the address now, and webhooks wait. Remove the cause and run this command again, or move to another zone, the former one included.'
      : `Everything is as it was, in ${placeInWords(stack)}. Remove the cause and run this command again.`,
  );
}

/** @param again the command that goes on waiting */
export async function waitedTooLong(
  apis: OriginApis,
  stack: OriginStack,
  destination: Place,
  again: string,
): Promise<CommandFailed> {
  const address = addressAt(stack, destination);
  const held = await tellHolder(apis, address);
  const remedies = [
    stack.status === 'UPDATE_IN_PROGRESS' &&
      `Run it with another --zone to give the update up, or: ${cancelCommand(stack)}.`,
    !isReady(stack.status) &&
      stack.status !== 'UPDATE_IN_PROGRESS' &&
      'CloudFormation takes no other update of the stack until this one has ended.',
    /\bdeleting\b/.test(held) &&
      `AWS may not let go of an address in a zone that is down: ask AWS Support to disassociate ${address} by force.`,
    `To go on waiting, run: ${again}`,
  ];
  return new CommandFailed(
    `The webhook origin is not in ${placeInWords(destination)} yet: stack ${stack.name} is ${stack.status}. ${held}`,
    remedies.filter(Boolean).join(' '),
  );
}
