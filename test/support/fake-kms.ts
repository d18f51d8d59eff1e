import { createHmac } from 'node:crypto';
import type { GenerateMacCommand, KMSClient } from '@aws-sdk/client-kms';

/** KMS's GenerateMac in this process. End-to-end tests use the SDK and the local KMS. */
export class FakeKms {
  /** The requested messages. */
  readonly messages: string[] = [];
  /** While true, KMS refuses. */
  failing = false;
  readonly client = {
    send: async ({ input }: GenerateMacCommand) => this.mac(input),
  } as unknown as KMSClient;

  private mac({ KeyId, Message = new Uint8Array() }: GenerateMacCommand['input']) {
    this.messages.push(Buffer.from(Message).toString());
    if (this.failing)
      throw Object.assign(new Error('The key is pending deletion'), { name: 'KMSInvalidStateException' });
    return { Mac: createHmac('sha256', `key ${KeyId}`).update(Message).digest() };
  }
}
