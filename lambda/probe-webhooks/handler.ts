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

/** Makes sure that the webhook exists, and sends it an event. Fails without a retry: the next probe is due in five minutes. */
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
