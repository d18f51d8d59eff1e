/* Replaces `connect.ts` in bundles that use the Data API. */
export { connectAsOwner, connectDatabase } from './data-api';
