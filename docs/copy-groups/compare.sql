select user_group_id, name,
  (select count(*) from user_group_members m where m.user_group_id = g.user_group_id) as members,
  (select count(*) from permission_assignments a where a.user_group_id = g.user_group_id) as assignments
from user_groups g
where organization_id = 'or-…' and user_group_id = any ('{ug-…}')
order by user_group_id
