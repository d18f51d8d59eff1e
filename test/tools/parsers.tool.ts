import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { newEventId, parseEvent, writeEvent } from '../../domain/event';
import { newId } from '../../domain/ids';
import { asDoubles, jsonText } from '../support/json-texts';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

/** Programs that print each line of JSON again, in one line, as they have parsed it; `null` for what they refuse. */
const go = `package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var value any
		if json.Unmarshal(lines.Bytes(), &value) != nil {
			value = nil
		}
		text, _ := json.Marshal(value)
		fmt.Println(string(text))
	}
}`;
const python = `
import json, sys
for line in sys.stdin:
    try: print(json.dumps(json.loads(line)))
    except ValueError: print("null")`;
const ruby = `
require "json"
STDIN.each_line do |line|
  value = JSON.parse(line) rescue nil
  puts JSON.generate(value)
end`;
const php = `
while (($line = fgets(STDIN)) !== false) {
    $value = json_decode($line);
    echo json_encode($value, JSON_PRESERVE_ZERO_FRACTION), "\\n";
}`;
const parsers: readonly (readonly [name: string, command: string, args: string[]])[] = [
  ['Go', 'go', ['run', 'main.go']],
  ['Python', 'python3', ['-c', python]],
  ['Ruby', 'ruby', ['-W0', '-e', ruby]],
  ['PHP', 'php', ['-r', php]],
];

const ids = { id: newEventId(), organizationId: newId('or'), kind: 'a' };

it.each(parsers)(
  '%s refuses no event that is accepted, and reads the same doubles',
  (_, command, args) => {
    const data = fc.sample(jsonText, 5_000).map((text) => text.replaceAll('\n', ' '));
    const accepted = data
      .map((text) => writeEvent({ ...ids, data: text }))
      .filter((text) => parseEvent(text).ok);
    expect(accepted.length).toBeGreaterThan(1_000);
    writeFileSync(join(folder(), 'main.go'), go);
    // The toolchain that is installed, not one that it downloads.
    const env = { ...process.env, GOTOOLCHAIN: 'local', GOPROXY: 'off', LANG: 'C.UTF-8' };
    const input = `${accepted.join('\n')}\n`;
    const options = { cwd: folder(), env, input, maxBuffer: 2 ** 28 };
    const { error, stdout, stderr } = spawnSync(command, args, { ...options, encoding: 'utf8' });
    expect([error, stderr]).toEqual([undefined, '']);
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(accepted.length);
    for (const [index, text] of accepted.entries())
      expect([text, asDoubles(lines[index] ?? '')]).toEqual([text, asDoubles(text)]);
    // The first run of Go compiles the standard library.
  },
  240_000,
);
