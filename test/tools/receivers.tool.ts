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
import { python, startProgram } from './program';

const folder = temporaryFolder();
const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/** Verifies what each line has, or, with a port, each request with the guide's arguments. */
const go = `
func main() {
	if len(os.Args) > 1 {
		receive := func(writer http.ResponseWriter, request *http.Request) {
			body, _ := BODY
			valid, _ := Verify(os.Args[2], HEADERS, body, time.Now())
			fmt.Fprint(writer, valid)
		}
		panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(receive)))
	}
	for decoder := json.NewDecoder(os.Stdin); decoder.More(); {
		var given struct {
			Secret, Body string
			Headers      map[string]string
		}
		if err := decoder.Decode(&given); err != nil {
			panic(err)
		}
		headers := http.Header{}
		for name, value := range given.Headers {
			headers.Set(name, value)
		}
		fmt.Println(Verify(given.Secret, headers, []byte(given.Body), time.Now()))
	}
}`;
const direct = `
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    try: print([verify(call["secret"], call["headers"], text) for text in (call["body"], "\\ud800")])
    except ValueError as error: print(error)`;
const flask = `
import sys
from flask import Flask, request

app = Flask("receiver")

@app.post("/")
def receive():
    return str(verify(sys.argv[2], HEADERS, BODY)).lower()`;
const django = `
import sys, types
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF="urls", MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"], SECRET_KEY="-")

SETUP
def receive(request):
    return HttpResponse(str(verify(sys.argv[2], HEADERS, BODY)).lower())

sys.modules["urls"] = types.ModuleType("urls")
sys.modules["urls"].urlpatterns = [path("", receive)]
app = get_wsgi_application()`;
const serve = `
from wsgiref.simple_server import make_server
make_server("127.0.0.1", int(sys.argv[1]), app).serve_forever()`;
const php = `<?php
$headers = HEADERS;
echo base64_encode(BODY);
foreach (explode(' ', '${names.join(' ')}') as $name) echo "\\n$headers[$name]";`;
const ruby = `
run lambda { |env|
  request = Rack::Request.new(env)
  [200, {}, [[[BODY].pack('m0'), *(HEADERS).values_at(*%w[${names.join(' ')}])].join("\\n")]]
}`;
const java = `
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Collections.list;
import static java.util.stream.Collectors.toMap;
import jakarta.servlet.http.*;
import java.util.*;
import org.apache.catalina.startup.Tomcat;

public class Receiver extends HttpServlet {
  protected void service(HttpServletRequest request, HttpServletResponse response) throws java.io.IOException {
    StringBuilder text = new StringBuilder(Base64.getEncoder().encodeToString((BODY).getBytes(UTF_8)));
    Map<String, List<String>> headers = HEADERS;
    for (String name : "${names.join(' ')}".split(" ")) text.append("\\n" + headers.get(name).get(0));
    response.getWriter().print(text);
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
}`;

/** For each language or framework, its file, its program, and the command for a port, `$1`, and the secret, `$2`. */
type Row = readonly [framework: string, file: string, program: string, command: string];

const imports = ['encoding/json', 'fmt', 'io', 'os'].map((name) => `\n\t"${name}"`).join('');
const goPackage = snippet('Go').replace('package webhooks', 'package main');
const inGo = goPackage.replace('import (', `import (${imports}`) + go;
// The toolchain that is installed, not one that it downloads.
const buildGo = 'GOTOOLCHAIN=local GOPROXY=off go build -o receiver main.go';
const inPython = (framework: string, code: string): Row => {
  const interpreter = python(framework.toLowerCase());
  return [framework, 'receiver.py', snippet('Python') + code + serve, `exec ${interpreter} receiver.py "$@"`];
};
const rows: readonly Row[] = [
  ['Go', 'main.go', inGo, `${buildGo} && exec ./receiver "$@"`],
  inPython('Flask', flask),
  inPython('Django', django),
  ['PHP', 'receiver.php', php, 'exec php -S "127.0.0.1:$1" receiver.php'],
  ['Ruby (Rack)', 'config.ru', ruby, 'exec puma --quiet --bind "tcp://127.0.0.1:$1"'],
  ['Java servlet', 'Receiver.java', java, 'exec java -cp "/usr/share/java/*" Receiver.java "$1"'],
];

function write([framework, file, program]: Row): void {
  const { body, headers, setup } = argumentsIn(framework);
  const completed = program.replace('BODY', body).replace('HEADERS', headers).replace('SETUP', setup);
  writeFileSync(join(folder(), file), completed);
}

const calls = [
  ...deliveries.map(([, isValid, headers, text = body]) => ({ secret, body: text, headers, isValid })),
  ...invalidSecrets.map((invalid) => ({ secret: invalid, body, headers: {}, isValid: undefined })),
  ...hostileHeaders.map((headers) => ({ secret, body, headers, isValid: false })),
];
const input = calls.map((call) => JSON.stringify(call)).join('\n');
const refusal = 'secret must be whsec_ and the base64 of 32 bytes';

it("the guide's Go and Python accept the product's deliveries, and refuse others, hostile headers and invalid secrets", () => {
  const printed = (command: string) => {
    const options = { cwd: folder(), input, encoding: 'utf8' } as const;
    const { error, stdout, stderr } = spawnSync('sh', ['-euc', command], options);
    expect([error, stderr]).toEqual([undefined, '']);
    return stdout.trim().split('\n');
  };
  write(rows[0] as Row);
  expect(printed(`${buildGo}; ./receiver`)).toEqual(
    calls.map(({ isValid }) => (isValid === undefined ? `false the ${refusal}` : `${isValid} <nil>`)),
  );
  writeFileSync(join(folder(), 'direct.py'), snippet('Python') + direct);
  const verified = (isValid: boolean) => (isValid ? '[True, False]' : '[False, False]');
  expect(printed('python3 direct.py')).toEqual(
    calls.map(({ isValid }) => (isValid === undefined ? `The ${refusal}.` : verified(isValid))),
  );
});

/** What those return that verify nothing, because the guide has no code in their language. */
const given = [Buffer.from(body).toString('base64'), ...names.map((name) => deliveries[0]?.[2][name])];

it.each(rows)("the guide's arguments in %s are a delivery's body and headers", async (...row) => {
  const [framework, , , command] = row;
  write(row);
  const start = (port: number) => ['sh', '-euc', command, 'sh', `${port}`, secret];
  const program = await startProgram(start, folder());
  try {
    const headers = { 'content-type': 'application/json', ...deliveries[0]?.[2] };
    const response = await fetch(program.url, { method: 'POST', headers, body });
    const answer = ['Go', 'Flask', 'Django'].includes(framework) ? 'true' : given.join('\n');
    expect([response.status, await response.text()]).toEqual([200, answer]);
  } finally {
    await program.stop();
  }
});
