import { runWallet } from '../support/wallet-command';

export const identityId = 'us-aaaaa-bbbbb-cccccccccccccccc';
export const organizationId = 'or-aaaaa-bbbbb-cccccccccccccccc';
export const webhookId = 'wh-aaaaa-bbbbb-cccccccccccccccc';
export const groupId = 'ug-aaaaa-bbbbb-cccccccccccccccc';

/** What a sentence of ours never has: a value that is missing. */
export const unfinished = /undefined|NaN|\[object |, (false|null)\b/;

export const wallet = (...args: string[]) => runWallet(args);
