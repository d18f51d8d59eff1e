/** Variables that `pg` reads by itself, with values that break a connection. Local environments of tests run with them. */
export const hostileToPostgres = {
  PGHOST: '192.0.2.1',
  PGPASSWORD: 'wrong',
  PGSSLMODE: 'require',
  PGSSLNEGOTIATION: 'direct',
  PGCLIENT_ENCODING: 'LATIN1',
  PGREPLICATION: 'true',
  PGOPTIONS: '-c statement_timeout=1',
  PGAPPNAME: 'none',
  PGCONNECT_TIMEOUT: '1',
};

/** Variables that the AWS SDK reads by itself. Commands on local environments are tested with them. */
export const hostileToAws = {
  AWS_USE_FIPS_ENDPOINT: 'true',
  AWS_USE_DUALSTACK_ENDPOINT: 'true',
  AWS_DEFAULTS_MODE: 'none',
  AWS_PROFILE: 'none',
  AWS_REGION: 'none',
  AWS_RETRY_MODE: 'none',
  AWS_MAX_ATTEMPTS: 'none',
  AWS_ENDPOINT_URL: 'http://192.0.2.1',
  AWS_ENDPOINT_URL_SQS: 'none',
  AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'none',
  AWS_AUTH_SCHEME_PREFERENCE: 'sigv4a',
  AWS_ACCOUNT_ID_ENDPOINT_MODE: 'required',
  AWS_REQUEST_MIN_COMPRESSION_SIZE_BYTES: '0',
  AWS_ACCESS_KEY_ID: 'none',
  HTTP_PROXY: 'http://192.0.2.1',
};
