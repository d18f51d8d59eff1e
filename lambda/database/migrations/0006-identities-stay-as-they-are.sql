-- No operation of the command line changes an identity: whoever can deactivate callers can also take them back.
revoke update (active) on identities from run_operation;
