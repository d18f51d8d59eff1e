import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  argumentsIn,
  body,
  deliveries,
  hostileHeaders,
  invalidSecrets,
  secret,
  snippet,
} from '../docs/deliveries';
import { temporaryFolder } from '../support/temporary-folder';
import { startProgram } from './program';
import { python } from './python';

const folder = temporaryFolder();
/** Sends each call to a server whose handler verifies with the guide's arguments, unless it is direct, and prints the result. */
const main = `
type call struct {
	Secret, Body string
	Headers      map[string]string
	Direct       bool
}

func main() {
	var given call
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, err := BODY
		if err != nil {
			panic(err)
		}
		valid, err := Verify(given.Secret, HEADERS, body, time.Now())
		fmt.Println(valid, err)
	}))
	defer server.Close()
	for decoder := json.NewDecoder(os.Stdin); decoder.More(); {
		given = call{}
		if err := decoder.Decode(&given); err != nil {
			panic(err)
		}
		request, _ := http.NewRequest("POST", server.URL, strings.NewReader(given.Body))
		for name, value := range given.Headers {
			request.Header.Set(name, value)
		}
		if given.Direct {
			fmt.Println(Verify(given.Secret, request.Header, []byte(given.Body), time.Now()))
			continue
		}
		if _, err := http.DefaultClient.Do(request); err != nil {
			panic(err)
		}
	}
}`;
const flask = `
import json, sys
from flask import Flask, request

app = Flask("receiver")

@app.post("/")
def receive():
    try: return json.dumps(verify(secret, HEADERS, BODY))
    except ValueError as error: return json.dumps(str(error))

for line in sys.stdin:
    call = json.loads(line)
    secret = call["secret"]
    print(app.test_client().post("/", data=call["body"].encode(), headers=call["headers"]).text)`;

const django = `
import json, sys, types
import django
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF="urls", MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"], SECRET_KEY="-")

SETUP
def receive(request):
    try: return HttpResponse(json.dumps(verify(secret, HEADERS, BODY)))
    except ValueError as error: return HttpResponse(json.dumps(str(error)))

sys.modules["urls"] = types.ModuleType("urls")
sys.modules["urls"].urlpatterns = [path("", receive)]
django.setup()
client = Client(enforce_csrf_checks=True)
for line in sys.stdin:
    call = json.loads(line)
    secret = call["secret"]
    headers = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in call["headers"].items()}
    print(client.post("/", call["body"].encode(), "application/json", **headers).content.decode())`;
/** Verifies each call without a server, and prints the results. */
const direct = `
import json, sys

for line in sys.stdin:
    call = json.loads(line)
    print(json.dumps([verify(call["secret"], call["headers"], text) for text in (call["body"], "\\ud800")]))`;

/** Completes the code with the arguments in the guide's table. */
const completed = (code: string, framework: string) => {
  const { body, headers, setup } = argumentsIn(framework);
  return code.replace('BODY', body).replace('HEADERS', headers).replace('SETUP', setup);
};
const calls = [
  ...deliveries.map(([, , headers, text = body]) => ({ secret, body: text, headers })),
  ...invalidSecrets.map((invalid) => ({ secret: invalid, body, headers: {} })),
];
const lines = (values: readonly object[]) => values.map((value) => JSON.stringify(value)).join('\n');
const input = lines(calls);
const hostile = lines(hostileHeaders.map((headers) => ({ secret, body, headers, direct: true })));

it("the guide's Go accepts the product's deliveries in a server, and refuses others and hostile headers", () => {
  const program = snippet('Go')
    .replace('package webhooks', 'package main')
    .replace('import (', 'import (\n\t"encoding/json"\n\t"fmt"\n\t"io"\n\t"net/http/httptest"\n\t"os"');
  writeFileSync(join(folder(), 'main.go'), program + completed(main, 'Go'));
  // The toolchain that is installed, not one that it downloads.
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOPROXY: 'off' };
  const options = { cwd: folder(), input: `${input}\n${hostile}`, env };
  const result = spawnSync('go', ['run', 'main.go'], { ...options, encoding: 'utf8' });
  expect([result.error, result.stderr]).toEqual([undefined, '']);
  expect(result.stdout.trim().split('\n')).toEqual([
    ...deliveries.map(([, valid]) => `${valid} <nil>`),
    ...invalidSecrets.map(() => 'false the secret must be whsec_ and the base64 of 32 bytes'),
    ...hostileHeaders.map(() => 'false <nil>'),
  ]);
  // The first run compiles the standard library.
});

it.each([
  ['Flask', 'flask', flask],
  ['Django', 'django', django],
])(
  "the guide's Python accepts the product's deliveries in %s, and raises for invalid secrets",
  (name, module, code) => {
    const program = snippet('Python') + completed(code, name);
    const { stdout, stderr } = spawnSync(python(module), ['-c', program], { input, encoding: 'utf8' });
    expect(stderr.replace(/^(Forbidden|Unauthorized).*\n/gm, '')).toBe('');
    expect(JSON.parse(`[${stdout.trim().replaceAll('\n', ',')}]`)).toEqual([
      ...deliveries.map(([, valid]) => valid),
      ...invalidSecrets.map(() => expect.stringContaining('32 bytes')),
    ]);
  },
  60_000,
);

it("the guide's Python refuses hostile headers, and hostile text", () => {
  const args = ['-c', snippet('Python') + direct];
  const { stdout, stderr } = spawnSync('python3', args, { input: hostile, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n')).toEqual(hostileHeaders.map(() => '[false, false]'));
});

/**
 * Receivers that read headers as the libraries of Standard Webhooks do: by name, in a map of PHP, of Ruby, and of lists in Java.
 * https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries
 */
const receivers: Readonly<Record<string, { file: string; code: string; start: (port: number) => string[] }>> =
  {
    PHP: {
      file: 'receiver.php',
      code: `<?php
function verify($body, $headers) {
  $names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  foreach ($names as $name) if (!isset($headers[$name])) return false;
  [$id, $timestamp, $signatures] = array_map(fn ($name) => $headers[$name], $names);
  $mac = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", base64_decode('KEY'), true));
  return abs(time() - (int) $timestamp) <= 300 && in_array($mac, explode(' ', $signatures), true);
}
http_response_code(verify(BODY, HEADERS) ? 204 : 401);`,
      start: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
    },
    'Ruby (Rack)': {
      file: 'config.ru',
      code: `require 'openssl'
def verify(body, headers)
  values = %w[webhook-id webhook-timestamp webhook-signature].map { |name| headers[name] }
  return false unless values.all?
  id, timestamp, signatures = values
  mac = ['v1,', [OpenSSL::HMAC.digest('sha256', 'KEY'.unpack1('m'), "#{id}.#{timestamp}.#{body}")].pack('m0')].join
  (Time.now.to_i - timestamp.to_i).abs <= 300 && signatures.split(' ').include?(mac)
end
run lambda { |env|
  request = Rack::Request.new(env)
  [verify(BODY, HEADERS) ? 204 : 401, {}, []]
}`,
      start: (port) => ['puma', '-q', '-b', `tcp://127.0.0.1:${port}`],
    },
    'Java servlet': {
      file: 'Receiver.java',
      code: `import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Collections.list;
import static java.util.stream.Collectors.toMap;
import jakarta.servlet.http.*;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.catalina.startup.Tomcat;

public class Receiver extends HttpServlet {
  static boolean verify(String body, Map<String, List<String>> headers) throws Exception {
    List<String> values = new ArrayList<>();
    for (String name : List.of("webhook-id", "webhook-timestamp", "webhook-signature")) {
      if (!headers.containsKey(name)) return false;
      values.add(headers.get(name).get(0));
    }
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode("KEY"), "HmacSHA256"));
    byte[] digest = mac.doFinal((values.get(0) + "." + values.get(1) + "." + body).getBytes(UTF_8));
    if (!values.get(1).matches("[0-9]{1,11}")) return false;
    long age = System.currentTimeMillis() / 1000 - Long.parseLong(values.get(1));
    String expected = "v1," + Base64.getEncoder().encodeToString(digest);
    return Math.abs(age) <= 300 && List.of(values.get(2).split(" ")).contains(expected);
  }

  protected void service(HttpServletRequest request, HttpServletResponse response) {
    try { response.setStatus(verify(BODY, HEADERS) ? 204 : 401); }
    catch (Exception error) { response.setStatus(500); }
  }

  public static void main(String[] args) throws Exception {
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(".");
    tomcat.setHostname("127.0.0.1");
    tomcat.setPort(Integer.parseInt(args[0]));
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    var context = tomcat.addContext("", null);
    Tomcat.addServlet(context, "receiver", new Receiver());
    context.addServletMappingDecoded("/*", "receiver");
    tomcat.start();
    tomcat.getServer().await();
  }
}`,
      start: (port) => ['java', '-cp', '/usr/share/java/*', 'Receiver.java', `${port}`],
    },
  };

it.each(Object.entries(receivers))(
  "a receiver in %s accepts the product's deliveries with the guide's arguments",
  async (name, { file, code, start }) => {
    const key = secret.slice('whsec_'.length);
    writeFileSync(join(folder(), file), completed(code, name).replace('KEY', key));
    const program = await startProgram(start, folder());
    try {
      for (const [delivery, isValid, headers, text = body] of deliveries) {
        const sent = { 'content-type': 'application/json', ...headers };
        const { status } = await fetch(program.url, { method: 'POST', headers: sent, body: text });
        expect([delivery, status]).toEqual([delivery, isValid ? 204 : 401]);
      }
    } finally {
      await program.stop();
    }
  },
  120_000,
);
