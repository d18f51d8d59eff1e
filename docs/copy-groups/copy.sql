with wanted as (
  select * from user_groups where organization_id = 'or-…' and user_group_id = any ('{ug-…}')
), member as (
  select user_group_id, (row_number() over (partition by user_group_id order by identity_id) - 1) / 200 as part,
    format('(%L, %L, %L, %L::timestamptz)', organization_id, user_group_id, identity_id, created_at) as line
  from user_group_members where (organization_id, user_group_id) in (select organization_id, user_group_id from wanted)
), assignment as (
  select user_group_id, (row_number() over (partition by user_group_id order by assignment_id) - 1) / 200 as part,
    format('(%L, %L, %L, %L, %L::timestamptz)', assignment_id, organization_id, permission_id, user_group_id, created_at) as line
  from permission_assignments where (organization_id, user_group_id) in (select organization_id, user_group_id from wanted)
), statement as (
  select 1 as place, user_group_id, 0::bigint as part,
    format('insert into user_groups (user_group_id, organization_id, name, created_at) values (%L, %L, %L, %L);',
      user_group_id, organization_id, name, created_at) as text
  from wanted
  union all
  select 2, user_group_id, part,
    'insert into user_group_members (organization_id, user_group_id, identity_id, created_at) select v.* from (values '
    || string_agg(line, ', ') || ') v (organization_id, user_group_id, identity_id, created_at)'
    || ' where exists (select from identities i where (i.organization_id, i.identity_id) = (v.organization_id, v.identity_id));'
  from member group by user_group_id, part
  union all
  select 3, user_group_id, part,
    'insert into permission_assignments (assignment_id, organization_id, permission_id, user_group_id, created_at) select v.* from (values '
    || string_agg(line, ', ') || ') v (assignment_id, organization_id, permission_id, user_group_id, created_at)'
    || ' where exists (select from permissions p where (p.organization_id, p.permission_id) = (v.organization_id, v.permission_id));'
  from assignment group by user_group_id, part
)
select text from statement order by place, user_group_id, part
