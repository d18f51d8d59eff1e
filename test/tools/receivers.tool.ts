import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argumentsIn, body, deliveries, invalidSecrets, secret, snippet } from '../docs/deliveries';
import { temporaryFolder } from '../support/temporary-folder';
import { python } from './python';

const folder = temporaryFolder();
/** Sends each call to a server whose handler verifies with the guide's arguments, and prints the status. */
const main = `
type call struct {
	Secret, Body string
	Headers      map[string]string
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

/** Completes the code with the arguments in the guide's table. */
const completed = (code: string, framework: string) => {
  const { body, headers } = argumentsIn(framework);
  return code.replace('BODY', body).replace('HEADERS', headers);
};
const calls = [
  ...deliveries.map(([, , headers, text = body]) => ({ secret, body: text, headers })),
  ...invalidSecrets.map((invalid) => ({ secret: invalid, body, headers: {} })),
];
const input = calls.map((call) => JSON.stringify(call)).join('\n');

it("the guide's Go accepts the product's deliveries in a server, and refuses others", () => {
  const program = snippet('Go')
    .replace('package webhooks', 'package main')
    .replace('import (', 'import (\n\t"encoding/json"\n\t"fmt"\n\t"io"\n\t"net/http/httptest"\n\t"os"');
  writeFileSync(join(folder(), 'main.go'), program + completed(main, 'Go'));
  // The toolchain that is installed, not one that it downloads.
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOPROXY: 'off' };
  const result = spawnSync('go', ['run', 'main.go'], { cwd: folder(), input, encoding: 'utf8', env });
  expect([result.error, result.stderr]).toEqual([undefined, '']);
  expect(result.stdout.trim().split('\n')).toEqual([
    ...deliveries.map(([, valid]) => `${valid} <nil>`),
    ...invalidSecrets.map(() => 'false the secret must be whsec_ and the base64 of 32 bytes'),
  ]);
  // The first run compiles the standard library.
}, 240_000);

it("the guide's Python accepts the product's deliveries in Flask, and raises for invalid secrets", () => {
  const code = snippet('Python') + completed(flask, 'Flask');
  const { stdout, stderr } = spawnSync(python('flask'), ['-c', code], { input, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(`[${stdout.trim().replaceAll('\n', ',')}]`)).toEqual([
    ...deliveries.map(([, valid]) => valid),
    ...invalidSecrets.map(() => expect.stringContaining('32 bytes')),
  ]);
}, 60_000);
