import { newId, randomCharacters } from '../../domain/ids';
import { type Database, sql } from '../../lambda/database/database';

export async function addOrganization(owner: Database): Promise<string> {
  const organizationId = newId('or');
  await owner.execute(sql`insert into organizations (organization_id) values (${organizationId})`);
  return organizationId;
}

export async function addWebhook(
  owner: Database,
  organizationId: string,
  { url = 'https://hooks.example.com/', kinds }: { url?: string; kinds?: readonly string[] } = {},
): Promise<string> {
  const webhookId = `wh-aaaaa-bbbbb-${randomCharacters(16)}`;
  await owner.execute(sql`
    insert into webhooks (webhook_id, organization_id, url, kinds, unhealthy_at)
    values (${webhookId}, ${organizationId}, ${url}, ${kinds ? `{${kinds.join(',')}}` : null}::text[], null)`);
  return webhookId;
}

export async function disableWebhook(owner: Database, webhookId: string): Promise<void> {
  await owner.execute(sql`
    update webhooks set enabled = false, disabled_reason = 'operator', disabled_at = now() where webhook_id = ${webhookId}`);
}

export const eventText = (organizationId: string, id: string, kind = 'wallet.created') =>
  JSON.stringify({ id, organizationId, kind, date: '2026-11-20T12:00:00.000Z', data: { amount: 1 } });
