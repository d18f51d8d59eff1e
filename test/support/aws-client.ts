/** Settings of an SDK client for a service on this machine, which takes any credentials. */
export const localClient = (endpoint: string) => ({
  endpoint,
  region: 'eu-central-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  maxAttempts: 1,
});
