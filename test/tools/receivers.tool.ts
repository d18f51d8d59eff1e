import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { body, deliveries, invalidSecrets, secret, snippet } from '../docs/deliveries';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const main = `
type call struct {
	Secret, Body string
	Headers      map[string]string
}

func main() {
	for decoder := json.NewDecoder(os.Stdin); decoder.More(); {
		var given call
		if err := decoder.Decode(&given); err != nil {
			panic(err)
		}
		headers := http.Header{}
		for name, value := range given.Headers {
			headers.Set(name, value)
		}
		valid, err := Verify(given.Secret, headers, []byte(given.Body), time.Now())
		fmt.Println(valid, err)
	}
}`;

it("the guide's Go accepts the product's deliveries, and refuses others", () => {
  const program = snippet('Go')
    .replace('package webhooks', 'package main')
    .replace('import (', 'import (\n\t"encoding/json"\n\t"fmt"\n\t"os"');
  writeFileSync(join(folder(), 'main.go'), program + main);
  const calls = [
    ...deliveries.map(([, , headers, text = body]) => ({ secret, body: text, headers })),
    ...invalidSecrets.map((invalid) => ({ secret: invalid, body, headers: {} })),
  ];
  const input = calls.map((call) => JSON.stringify(call)).join('\n');
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
