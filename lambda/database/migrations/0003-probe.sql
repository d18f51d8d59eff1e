-- The organization and webhook of the environment's own probe, as the probe needs them, whatever was done to them. Runs as the
-- schema's owner and touches nothing else, so that probe_webhooks needs no other right.
create function ensure_probe(check_url text) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp
as $$
  insert into organizations (organization_id) values ('or-probe-00000-0000000000000000')
  on conflict do nothing;
  insert into webhooks (webhook_id, organization_id, url, kinds, unhealthy_at)
  values ('wh-probe-00000-0000000000000000', 'or-probe-00000-0000000000000000', check_url, array['webhook.probe'], null)
  on conflict (webhook_id) do update
  set url = excluded.url, kinds = excluded.kinds, enabled = true, disabled_reason = null, disabled_at = null,
    secret_version = 1, rotated_at = null
  where (webhooks.url, webhooks.kinds, webhooks.enabled, webhooks.secret_version)
    is distinct from (excluded.url, excluded.kinds, true, 1);
$$;

revoke execute on function ensure_probe from public;
grant execute on function ensure_probe to probe_webhooks;
