import type * as signer from '@aws-sdk/rds-signer';
import type * as dataApi from './data-api';
import type * as direct from './direct';

/*
 * The adapters, each loaded when it is asked for: a function needs one of them, and its cold start would pay for the
 * client of the other as well. esbuild bundles what `require` names, and leaves it unevaluated until then.
 */

/** `data-api.ts` */
export const loadDataApi = () => require('./data-api') as typeof dataApi;

/** `direct.ts` */
export const loadDirect = () => require('./direct') as typeof direct;

/** What makes IAM tokens, for direct access without a password. */
export const loadSigner = () => require('@aws-sdk/rds-signer') as typeof signer;
