import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A file of the SQS emulator that its package does not export. */
export function fauxqsFile(name: string): string {
  const files = (require.resolve.paths('fauxqs') ?? []).map((folder) =>
    join(folder, 'fauxqs', 'dist', 'sqs', name),
  );
  const found = files.find((file) => existsSync(file));
  if (!found) throw new Error(`fauxqs has no dist/sqs/${name}: it is not the version of package.json.`);
  return found;
}

/** Characters that SQS refuses in a message. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const refusedCharacter = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** Makes the emulator accept what SQS accepts: it refuses characters beyond U+FFFF, such as emoji. */
export async function acceptSqsCharacters(): Promise<void> {
  const { INVALID_MESSAGE_BODY_CHAR } = (await import(fauxqsFile('sqsTypes.js'))) as {
    readonly INVALID_MESSAGE_BODY_CHAR: RegExp;
  };
  INVALID_MESSAGE_BODY_CHAR.test = (text) => refusedCharacter.test(text);
}
