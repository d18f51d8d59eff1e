create table organizations (
  organization_id text primary key check (organization_id ~ '^or-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  created_at timestamptz not null default now()
);

create table identities (
  identity_id text primary key check (identity_id ~ '^(us|sa)-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null references organizations,
  kind text not null check (kind in ('CustomerEmployee', 'EndUser', 'ServiceAccount')),
  active boolean not null default true,
  created_at timestamptz not null default now(),
  unique (organization_id, identity_id)
);

create table user_groups (
  user_group_id text primary key check (user_group_id ~ '^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null references organizations,
  name text not null check (length(name) between 1 and 256),
  created_at timestamptz not null default now(),
  unique (organization_id, name),
  unique (organization_id, user_group_id)
);

-- The composite keys keep a member, its group and its organization together: no row can join two organizations.
-- The cascade runs with a fresh snapshot, so a member added while its group is being deleted goes with it.
create table user_group_members (
  organization_id text not null,
  user_group_id text not null,
  identity_id text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, user_group_id, identity_id),
  foreign key (organization_id, user_group_id) references user_groups (organization_id, user_group_id) on delete cascade,
  foreign key (organization_id, identity_id) references identities (organization_id, identity_id) on delete cascade
);

create index on user_group_members (organization_id, identity_id);

create table permissions (
  permission_id text primary key check (permission_id ~ '^pm-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null references organizations,
  name text not null check (length(name) between 1 and 256),
  operations text[] not null,
  created_at timestamptz not null default now(),
  unique (organization_id, name),
  unique (organization_id, permission_id)
);

create table permission_assignments (
  assignment_id text primary key check (assignment_id ~ '^as-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null,
  permission_id text not null,
  identity_id text,
  user_group_id text,
  created_at timestamptz not null default now(),
  check (num_nonnulls(identity_id, user_group_id) = 1),
  foreign key (organization_id, permission_id) references permissions (organization_id, permission_id) on delete cascade,
  foreign key (organization_id, identity_id) references identities (organization_id, identity_id) on delete cascade,
  foreign key (organization_id, user_group_id) references user_groups (organization_id, user_group_id) on delete cascade
);

create unique index on permission_assignments (organization_id, identity_id, permission_id) where identity_id is not null;
create unique index on permission_assignments (organization_id, user_group_id, permission_id) where user_group_id is not null;
create index on permission_assignments (organization_id, permission_id);

-- Deleting a group needs no right on its members and assignments: the cascades run as the tables' owner.
grant select on identities, user_group_members, permissions, permission_assignments to delete_user_group;
grant select, delete on user_groups to delete_user_group;

grant select, insert on organizations, permissions, permission_assignments to run_operation;
grant select, insert, update (active) on identities to run_operation;
grant select, insert on user_groups, user_group_members to run_operation;
