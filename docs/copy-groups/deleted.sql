select subject_id, subject_name, occurred_at::text, identity_id
from audit_records
where organization_id = 'or-…' and outcome = 'deleted' and occurred_at >= '2026-11-21T10:30:00Z'
  and not exists (select from user_groups where user_group_id = subject_id)
order by occurred_at
