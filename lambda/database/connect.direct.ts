/* What bundles for direct access have instead of `connect.ts`. */
export { connectAsOwner, connectDatabase } from './direct';
