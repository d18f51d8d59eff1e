import schema from './0001-schema.sql';
import webhookLimitAndEvents from './0002-webhook-limit-and-events.sql';
import probe from './0003-probe.sql';
import oneChain from './0004-one-chain.sql';
import pausedWebhooks from './0005-paused-webhooks.sql';
import directory from './0006-directory.sql';
import repeatedEvents from './0007-repeated-events.sql';

/**
 * A forward-only schema migration. Once landed on main, its text never changes: a later file amends it. The Data API
 * limits a file to 45 seconds; create what takes longer, such as an index of a large table, by hand before, and let the
 * file create it only if it is missing. The previous release must run on the new schema: lib/checks/migrations.ts.
 */
export interface Migration {
  /** The file's name without its extension; sorts in the order of application. */
  readonly name: string;
  readonly text: string;
}

export const migrations: readonly Migration[] = [
  { name: '0001-schema', text: schema },
  { name: '0002-webhook-limit-and-events', text: webhookLimitAndEvents },
  { name: '0003-probe', text: probe },
  { name: '0004-one-chain', text: oneChain },
  { name: '0005-paused-webhooks', text: pausedWebhooks },
  { name: '0006-directory', text: directory },
  { name: '0007-repeated-events', text: repeatedEvents },
];
