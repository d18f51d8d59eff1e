/** The bytes of standard base64 text, with or without its padding. Undefined when it is none. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bare = text.replace(/={1,2}$/, '');
  if (!/^[A-Za-z0-9+/]+$/.test(bare) || bare.length % 4 === 1) return undefined;
  return Uint8Array.from(atob(bare), (character) => character.charCodeAt(0));
}
