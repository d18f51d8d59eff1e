/**
 * Seconds until a message is retried after an internal error (database, KMS or SQS unavailable): 5 s, doubled with
 * each receive up to 15 minutes, ±20 %. With the queues' 1,000 receives that bridges ten days.
 *
 * @param receiveCount how often the message was received, this time included
 * @param random from 0 to 1
 */
export function backoffSeconds(receiveCount: number, random: number): number {
  const seconds = Math.min(900, 5 * 2 ** Math.min(receiveCount - 1, 10));
  return seconds * (0.8 + 0.4 * random);
}
