/** What a deployer gave is wrong. The message says what it is and what to do, and needs no stack. */
export class InvalidInput extends Error {
  override readonly name: string = 'InvalidInput';
}
