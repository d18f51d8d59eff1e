-- Since when a webhook is disabled, and whether its organization is yet to be told. The release before sets neither, and tells
-- nobody.
alter table webhooks
  add column disabled_at timestamptz,
  add column disabling_untold boolean not null default false;

grant select (organization_id, disabled_reason, disabled_at, disabling_untold) on webhooks to deliver_webhook;
grant update (disabled_at, disabling_untold) on webhooks to deliver_webhook, run_operation;
