import { newEventId, writeEvent } from '../../domain/event';
import { probe } from '../../domain/probe';
import { connectDatabase } from '../database/connect';
import { sql } from '../database/database';
import { bindDependencies } from '../shared/bind-dependencies';
import { createLog, logCodes } from '../shared/log';
import { createQueues } from '../shared/queue';
import { readVariables } from '../shared/variables';
import { variables } from './variables';

export function createDependencies() {
  const { EVENTS_QUEUE_URL, CHECK_URL } = readVariables(variables, process.env);
  return {
    database: connectDatabase(process.env),
    events: createQueues()(EVENTS_QUEUE_URL),
    checkUrl: CHECK_URL,
    log: createLog('probe-webhooks'),
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/**
 * Sends one event the way of a customer's: the environment's own receiver checks the webhook that it becomes, and counts
 * it. First makes sure that the webhook exists, whatever an operator did to it.
 *
 * @throws Error if the database or the queue is unavailable. No retry: the next probe is due in five minutes, and the
 *   alarm `webhooks-unproven` counts what arrives.
 */
export const createHandler =
  ({ database, events, checkUrl, log }: Dependencies) =>
  async (_event: unknown): Promise<void> => {
    const { organizationId, webhookId, kind } = probe;
    const ensured = await database.execute(sql`select ensure_probe(${`${checkUrl}/${webhookId}`})::text`);
    if (!ensured.ok) throw new Error(`The database is unavailable: ${ensured.error.reason}.`);
    const eventId = newEventId();
    const body = writeEvent({ id: eventId, organizationId, kind, data: '{}' });
    const sent = await events.send([{ body, group: organizationId }]);
    if (!sent.ok) throw new Error(`The events queue is unavailable: ${sent.error.reason}.`);
    log.info('Probe sent', { logCode: logCodes.probeSent, eventId });
  };

export const handler = bindDependencies(createHandler, createDependencies);
