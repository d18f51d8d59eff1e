import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { bind } from '../shared/bind';
import { createDependencies, type Dependencies } from './dependencies';

/** `GET /` of the dashboard's address: one page, the same for all. */
export const createHandler =
  ({ page, headers }: Dependencies) =>
  async (_event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => ({
    statusCode: 200,
    headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers },
    body: page,
  });

export const handler = bind(createHandler, createDependencies);
