export type { AccessEntry } from './access';
export type { RestApiModel } from './model';
export { type ResolvedResource, readRestApi } from './read-rest-api';
export {
  type ApiGateway,
  type ApiGatewayOptions,
  type OpenApiGateway,
  openApiGateway,
  startApiGateway,
} from './server';
