// Replaces `connect.ts` in bundles with direct access.
export { connectAsOwner, connectDatabase } from './direct';
