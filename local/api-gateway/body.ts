import type { IncomingMessage } from 'node:http';

/**
 * Reads a request's body. One that is too large is still read to its end: a client that is busy sending would not see
 * the response on a closed connection.
 *
 * @param limit bytes
 */
export function readBody(
  incoming: IncomingMessage,
  limit: number,
): Promise<Buffer | 'too-large' | 'aborted'> {
  if (Number(incoming.headers['content-length'] ?? 0) > limit) {
    incoming.resume();
    return Promise.resolve('too-large');
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) return chunks.push(chunk);
      chunks.length = 0;
      resolve('too-large');
    });
    incoming.once('end', () => resolve(Buffer.concat(chunks)));
    incoming.once('error', () => resolve('aborted'));
    incoming.once('close', () => resolve('aborted'));
  });
}
