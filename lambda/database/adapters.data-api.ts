import type * as signer from '@aws-sdk/rds-signer';
import * as dataApi from './data-api';
import type * as direct from './direct';

/* What bundles for access over the Data API have instead of `adapters.ts`. */

const notHere = (): never => {
  throw new Error('This bundle is for access over the Data API, and the variables are for direct access.');
};

export const loadDataApi = () => dataApi;
export const loadDirect = (): typeof direct => notHere();
export const loadSigner = (): typeof signer => notHere();
