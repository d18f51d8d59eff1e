-- An organization has at most 50 enabled webhooks, whatever enables one.
create function limit_enabled_webhooks() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp
as $$
begin
  -- One at a time in each organization. The count is a statement of its own, so it sees what was committed before the lock.
  perform pg_advisory_xact_lock(hashtextextended(new.organization_id, 0));
  if (select count(*) from webhooks where organization_id = new.organization_id and enabled) >= 50 then
    raise exception 'The organization has 50 enabled webhooks' using errcode = 'WH050';
  end if;
  return new;
end
$$;

revoke execute on function limit_enabled_webhooks from public;

create trigger limit_added before insert on webhooks
  for each row when (new.enabled) execute function limit_enabled_webhooks();
create trigger limit_enabled before update of enabled on webhooks
  for each row when (new.enabled and not old.enabled) execute function limit_enabled_webhooks();

-- To tell our webhook.disabled from a forged one.
grant select (disabled_reason, disabled_at) on webhooks to fan_out_event;
