/**
 * Set to `allowed`, it permits receivers at `http://127.0.0.1` and `http://localhost`. The local environment alone
 * gives it to the functions that it runs: no template has it.
 */
export const localReceiversVariable = 'WEBHOOK_LOCAL_RECEIVERS';
