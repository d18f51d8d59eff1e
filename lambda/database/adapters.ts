import type * as signer from '@aws-sdk/rds-signer';
import type * as dataApi from './data-api';
import type * as direct from './direct';

/*
 * Both adapters, each loaded when it is asked for: for what may need either, such as tests. A deployed bundle has one of
 * `adapters.data-api.ts` and `adapters.direct.ts` instead: see `bundlingFor` in `lib/functions/bundles.ts`.
 */

/** `data-api.ts` */
export const loadDataApi = () => require('./data-api') as typeof dataApi;

/** `direct.ts` */
export const loadDirect = () => require('./direct') as typeof direct;

/** What makes IAM tokens, for direct access without a password. */
export const loadSigner = () => require('@aws-sdk/rds-signer') as typeof signer;
