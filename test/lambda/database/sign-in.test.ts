import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase } from '../../../lambda/database/direct';
import { temporaryFolder } from '../../support/temporary-folder';

const mockPool = jest.fn();
jest.mock('pg', () => ({ ...jest.requireActual('pg'), Pool: jest.fn((settings) => mockPool(settings)) }));

const folder = temporaryFolder();

// A local PostgreSQL accepts any token.
it('signs a token of a quarter of an hour for the role, the endpoint and the region, as Aurora checks', async () => {
  const authorities = join(folder(), 'roots.pem');
  writeFileSync(authorities, 'roots');
  const own = {
    AWS_REGION: 'me-central-1',
    AWS_ACCESS_KEY_ID: 'KEY',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'session',
  };
  const before = process.env;
  process.env = { ...before, ...own };
  try {
    mockPool.mockReturnValue({ on: () => undefined });
    connectDatabase({
      DATABASE_ACCESS: 'direct',
      DATABASE_HOST: 'cluster.example',
      DATABASE_PORT: '5432',
      DATABASE_NAME: 'wallet',
      DATABASE_USER: 'delete_user_group',
      DATABASE_CERTIFICATE_AUTHORITIES: authorities,
    });
    const [settings] = mockPool.mock.calls[0];
    expect(settings).toMatchObject({ host: 'cluster.example', port: 5432, user: 'delete_user_group' });
    const { host, pathname, searchParams } = new URL(`https://${await settings.password()}`);
    expect([host, pathname]).toEqual(['cluster.example:5432', '/']);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      Action: 'connect',
      DBUser: 'delete_user_group',
      'X-Amz-Expires': '900',
      'X-Amz-Credential': expect.stringMatching(/^KEY\/\d{8}\/me-central-1\/rds-db\/aws4_request$/),
      'X-Amz-Security-Token': 'session',
      'X-Amz-SignedHeaders': 'host',
    });
  } finally {
    process.env = before;
  }
});
