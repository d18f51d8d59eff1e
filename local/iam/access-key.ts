/** The access key id of a request's signature (Signature Version 4); empty when it has none. */
export const accessKeyIdOf = (authorization: string | undefined): string =>
  /\bCredential=([^/,\s]+)\//.exec(authorization ?? '')?.[1] ?? '';

/** The credentials of one function, whose role decides what they may do. @param hash of the function */
export const functionAccessKey = (hash: string) => ({
  accessKeyId: `LOCAL${hash.slice(0, 15).toUpperCase()}`,
  secretAccessKey: hash.slice(15, 55),
  sessionToken: 'local',
});
