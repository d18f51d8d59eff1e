/* What bundles for access over the Data API have instead of `connect.ts`. */
export { connectAsOwner, connectDatabase } from './data-api';
