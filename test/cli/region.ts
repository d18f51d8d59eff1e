import { runWallet } from '../support/wallet-command';

export const identityId = 'us-aaaaa-bbbbb-cccccccccccccccc';
export const organizationId = 'or-aaaaa-bbbbb-cccccccccccccccc';
export const webhookId = 'wh-aaaaa-bbbbb-cccccccccccccccc';
export const groupId = 'ug-aaaaa-bbbbb-cccccccccccccccc';

export const wallet = (...args: string[]) => runWallet(args);
