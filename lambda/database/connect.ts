// The Data API. In bundles with direct access, `connect.direct.ts` replaces this file: `bundlingFor` in `lib/functions/builds.ts`.
export { connectAsOwner, connectDatabase } from './data-api';
