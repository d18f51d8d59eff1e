import { type AllowListFormatName, formatAllowList } from '../../cli/allow-lists/formats';
import { eu, reserving } from '../cli/allow-lists/origins';
import { unusedPort } from '../support/unused-port';
import { run, statusFrom, toolFolder, whileServing } from './tool';

interface Server {
  readonly format: AllowListFormatName;
  readonly command: string;
  /** The server's own configuration: it answers `GET /hook` with 200 to those whom the list admits. */
  configure(folder: string, list: string, port: number): string;
  validate(config: string): readonly string[];
  serve(config: string): readonly string[];
}

const servers: readonly Server[] = [
  {
    format: 'nginx',
    command: 'nginx',
    configure: (folder, list, port) => `
      daemon off;
      master_process off;
      pid ${folder}/nginx.pid;
      events {}
      http {
        access_log off;
        client_body_temp_path ${folder}/body;
        proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/fastcgi;
        uwsgi_temp_path ${folder}/uwsgi;
        scgi_temp_path ${folder}/scgi;
        server {
          listen 127.0.0.1:${port};
          root ${folder};
          location /hook { include ${list}; }
        }
      }`,
    validate: (config) => ['-t', '-e', 'stderr', '-c', config],
    serve: (config) => ['-e', 'stderr', '-c', config],
  },
  {
    format: 'apache',
    command: 'apache2',
    configure: (folder, list, port) => `
      ServerRoot ${folder}
      ServerName 127.0.0.1
      Listen 127.0.0.1:${port}
      PidFile ${folder}/apache.pid
      DefaultRuntimeDir ${folder}
      ErrorLog ${folder}/error.log
      LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
      LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
      LoadModule authz_host_module /usr/lib/apache2/modules/mod_authz_host.so
      User nobody
      Group nogroup
      DocumentRoot ${folder}
      <Location "/hook">
        Include ${list}
      </Location>`,
    validate: (config) => ['-t', '-f', config],
    serve: (config) => ['-D', 'FOREGROUND', '-f', config],
  },
  {
    format: 'caddy',
    command: 'caddy',
    configure: (folder, list, port) => `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  bind 127.0.0.1
  handle /hook {
    import ${list}
    root * ${folder}
    file_server
  }
}
`,
    validate: (config) => ['validate', '--adapter', 'caddyfile', '--config', config],
    serve: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
  },
  {
    format: 'haproxy',
    command: 'haproxy',
    configure: (_, list, port) => `
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend webhooks
  bind 127.0.0.1:${port}
  http-request deny unless { src -f ${list} }
  http-request return status 200
`,
    validate: (config) => ['-c', '-f', config],
    serve: (config) => ['-db', '-f', config],
  },
];

describe.each(servers)('$command', ({ format, command, configure, validate, serve }) => {
  const folder = toolFolder();
  beforeEach(() => void folder.write('hook', 'received'));

  /** Caddy keeps files in the home directory. */
  const env = () => ({ HOME: folder.path(), XDG_DATA_HOME: folder.path(), XDG_CONFIG_HOME: folder.path() });
  const configured = (list: string, port: number) =>
    folder.write('server.conf', configure(folder.path(), folder.write('allow-list', `${list}\n`), port));

  it('takes the list of all environments and reserves as it is', async () => {
    const config = configured(formatAllowList(format, reserving), await unusedPort());
    const { exitCode, output } = await run(command, validate(config), env());
    expect(`${exitCode} ${output}`).toMatch(/^0 /);
    expect(output).not.toMatch(/warn[^\n]*allow-list/i);
  });

  it('would not take a list with an address that is none', async () => {
    const broken = formatAllowList(format, [eu]).replaceAll('203.0.113.7/32', '203.0.113.777/32');
    const config = configured(broken, await unusedPort());
    const { exitCode, output } = await run(command, validate(config), env());
    expect(exitCode).not.toBe(0);
    expect(output).toContain('203.0.113.777');
  });

  it('admits the address and refuses its neighbour', async () => {
    const port = await unusedPort();
    const config = configured(formatAllowList(format, [{ ...eu, address: '127.0.0.1' }]), port);
    const statuses = await whileServing({ command, args: serve(config), env: env() }, port, async () => ({
      admitted: await statusFrom('127.0.0.1', port),
      refused: await statusFrom('127.0.0.2', port),
    }));
    expect(statuses).toEqual({ admitted: 200, refused: 403 });
  });
});
