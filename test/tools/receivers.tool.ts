import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretText, sign } from '../../domain/signature';
import { projectRoot } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const page = readFileSync(join(projectRoot, 'docs/receivers.md'), 'utf8');
const [, code = ''] = /^### Go\n[\s\S]*?^```go\n([\s\S]*?)^```$/m.exec(page) ?? [];

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

const [key, other] = [randomBytes(32), randomBytes(32)];
const body = ' {"id": "ev-1", "data": ["€ 12", 12345678901234567890]}\n';

type Keys = [Uint8Array, ...Uint8Array[]];
/** A delivery as the product signs it now, or so many seconds later. */
function delivery(change: object = {}, keys: Keys = [key], seconds = 0) {
  const timestamp = Math.floor(Date.now() / 1_000) + seconds;
  const signature = sign({ id: 'msg_1', timestamp, body }, keys);
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signature,
  };
  return { secret: secretText(key), body, headers: { ...headers, ...change } };
}

const [valid, invalid] = ['true <nil>', 'false <nil>'];
const malformed = 'false the secret must be whsec_ and the base64 of 32 bytes';
const calls: readonly (readonly [call: object, result: string])[] = [
  [delivery(), valid],
  [delivery({}, [key, other]), valid],
  [delivery({}, [other, key]), valid],
  [delivery({}, [other]), invalid],
  [{ ...delivery(), body: `${body} ` }, invalid],
  [delivery({ 'webhook-id': 'msg_2' }), invalid],
  [delivery({ 'webhook-id': '' }), invalid],
  [delivery({ 'webhook-timestamp': 'now' }), invalid],
  [delivery({ 'webhook-signature': '' }), invalid],
  [delivery({}, [key], -3_600), invalid],
  [delivery({}, [key], 3_600), invalid],
  [{ ...delivery(), secret: '' }, malformed],
  [{ ...delivery(), secret: secretText(key).slice(0, -4) }, malformed],
];

it("the guide's Go accepts the product's deliveries, and refuses others", () => {
  const program = code
    .replace('package webhooks', 'package main')
    .replace('import (', 'import (\n\t"encoding/json"\n\t"fmt"\n\t"os"');
  writeFileSync(join(folder(), 'main.go'), program + main);
  const input = calls.map(([call]) => JSON.stringify(call)).join('\n');
  // The toolchain that is installed, not one that it downloads.
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOPROXY: 'off' };
  const result = spawnSync('go', ['run', 'main.go'], { cwd: folder(), input, encoding: 'utf8', env });
  expect([result.error, result.stderr]).toEqual([undefined, '']);
  expect(result.stdout.trim().split('\n')).toEqual(calls.map(([, expected]) => expected));
  // The first run compiles the standard library.
}, 240_000);
