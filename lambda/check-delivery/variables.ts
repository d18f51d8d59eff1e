import { routeVariables } from '../shared/variables';

/** `PUBLISHED_ADDRESSES`: joined by commas. `FORMER_ADDRESS`: the region's before a promotion, or `none`. */
export const variables = [
  'ENVIRONMENT',
  'PUBLISHED_ADDRESSES',
  'FORMER_ADDRESS',
  'WEBHOOK_SECRETS_KEY_ID',
  ...routeVariables,
] as const;
