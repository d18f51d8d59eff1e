import * as signer from '@aws-sdk/rds-signer';
import type * as dataApi from './data-api';
import * as direct from './direct';

/* What bundles for direct access have instead of `adapters.ts`. */

export const loadDataApi = (): typeof dataApi => {
  throw new Error('This bundle is for direct access, and the variables are for access over the Data API.');
};
export const loadDirect = () => direct;
export const loadSigner = () => signer;
