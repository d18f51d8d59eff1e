import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatAllowList } from '../../domain/allow-list';
import { temporaryFolder } from '../support/temporary-folder';
import { startProgram } from './program';

const folder = temporaryFolder();

it("Apache's list, included in a location, admits its addresses and no others", async () => {
  const origin = { environment: 'eu', region: 'eu-central-1', address: '127.0.0.7', reserve: ['127.0.0.8'] };
  writeFileSync(join(folder(), 'webhooks.conf'), `${formatAllowList('apache', [origin])}\n`);
  const modules = ['mpm_event', 'authz_core', 'authz_host', 'status'];
  const configuration = [
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    `ServerName localhost\nPidFile ${folder()}/pid\nErrorLog ${folder()}/log`,
    '<Location /webhooks>\n  Include webhooks.conf\n  SetHandler server-status\n</Location>',
  ].join('\n');
  writeFileSync(join(folder(), 'httpd.conf'), configuration);
  const httpd = (port: number) => ['-d', folder(), '-f', 'httpd.conf', '-c', `Listen 127.0.0.1:${port}`];
  // As `apachectl configtest` does.
  const { error, stderr } = spawnSync('/usr/sbin/apache2', [...httpd(1), '-t'], { encoding: 'utf8' });
  expect([error, stderr.trim()]).toEqual([undefined, 'Syntax OK']);

  const server = await startProgram(
    (port) => ['/usr/sbin/apache2', ...httpd(port), '-D', 'FOREGROUND'],
    folder(),
  );
  const ask = (from: string) => {
    const args = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--interface', from];
    return spawnSync('curl', [...args, `${server.url}webhooks`], { encoding: 'utf8' }).stdout;
  };
  try {
    const found = ['127.0.0.7', '127.0.0.8', '127.0.0.1', '127.0.0.9'].map(ask);
    expect(found).toEqual(['200', '200', '403', '403']);
  } finally {
    await server.stop();
  }
});
