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
const events = (texts: readonly string[]) =>
  texts.map((data) => writeEvent({ ...ids, data: data.replaceAll('\n', ' ') }));

/** What each event is to a parser; undefined if it refuses it. */
function parseIn(command: string, args: readonly string[], texts: readonly string[]): unknown[] {
  writeFileSync(join(folder(), 'main.go'), go);
  // The toolchain that is installed, not one that it downloads.
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOPROXY: 'off', LANG: 'C.UTF-8' };
  const result = spawnSync(command, args, {
    cwd: folder(),
    env,
    input: `${texts.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  expect([result.error, result.stderr]).toEqual([undefined, '']);
  return result.stdout
    .trim()
    .split('\n')
    .map((line) => asDoubles(line) ?? undefined);
}

it.each(parsers)('%s refuses no event that is accepted, and reads the same doubles', (_, command, args) => {
  const all = events(fc.sample(jsonText, 5_000));
  const accepted = all.filter((text) => parseEvent(text).ok);
  expect(accepted.length).toBeGreaterThan(1_000);
  const parsed = parseIn(command, args, accepted);
  expect(parsed).toHaveLength(accepted.length);
  for (const [index, text] of accepted.entries())
    expect([text, parsed[index]]).toEqual([text, asDoubles(text)]);
});

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
/** What we refuse for the sake of one of these parsers. */
it.each([
  ['Go', '1e400'],
  ['Go', '9'.repeat(400)],
  ['Ruby', nested(100)],
  ['PHP', String.raw`{"\u0000":1}`],
])('%s refuses data that we refuse too: row %#', (name, data) => {
  const texts = events([data]);
  const [, command = '', args = []] = parsers.find(([each]) => each === name) ?? [];
  expect([texts.map((text) => parseEvent(text).ok), parseIn(command, args, texts)]).toEqual([
    [false],
    [undefined],
  ]);
});
