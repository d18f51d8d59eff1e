-- Records are looked for by their subject alone: its organization may be gone.
create index on audit_records (subject_id, audit_record_id);
drop index audit_records_organization_id_subject_id_idx;
