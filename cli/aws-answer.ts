import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

/**
 * Reads an answer for the SDK, which takes a page or an empty body with status 200 for an answer without any field:
 * no address, no message, no stack. Errors it tells by itself.
 *
 * @throws SyntaxError, to which the SDK adds the response
 */
export async function readAwsAnswer(answer: IncomingMessage): Promise<Uint8Array> {
  const body = await buffer(answer);
  if ((answer.statusCode ?? 0) >= 300) return body;
  const isPage =
    answer.headers['content-type']?.includes('html') ||
    /^\s*<(!doctype\s+html|html)\b/i.test(body.toString('utf8', 0, 200));
  // AWS answers some calls, such as sqs:DeleteMessage, with no content, and each with the request's id.
  const isEmpty = body.length === 0 && !answer.headers['x-amzn-requestid'];
  if (isPage || isEmpty) throw new SyntaxError(isPage ? 'a page' : 'no content');
  return body;
}
