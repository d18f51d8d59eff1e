/** Settings of an SDK client for a local service, which accepts any credentials. */
export const localClient = (endpoint: string) => ({
  endpoint,
  region: 'eu-central-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  maxAttempts: 1,
});
