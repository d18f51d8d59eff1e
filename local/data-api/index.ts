export type { DatabaseTarget, Resolve } from './connections';
export type { Limits } from './limits';
export { type DataApi, type DataApiOptions, startDataApi } from './server';
