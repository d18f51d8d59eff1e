import fc from 'fast-check';

/** As JSON permits to write them, not as a serializer does. */
const usual = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,25})?([eE][+-]?[1-3]?\d{1,2})?$/);
const long = fc.stringMatching(/^-?[1-9]\d{0,1009}(\.\d{1,1010})?(e-?[12]?\d{1,9})?$/);
const number = fc.oneof({ weight: 9, arbitrary: usual }, long);

/** Characters as they are and escaped. */
const units = String.raw`[aA /.$é€😀\u2028\ufffe\u007f]|\\["\\/bfnrt]|\\u(00[1-7][0-9a-f]|20aC|d83d\\ude0[0-9a-f])`;
const textOf = (these: string) => fc.stringMatching(new RegExp(`^"(${these}){0,6}"$`, 'u'));
const halves = textOf(String.raw`${units}|\\u0000|\\ud83d`);
const string = fc.oneof({ weight: 9, arbitrary: textOf(units) }, halves);

const names = '__proto__ \\u005f_proto__ constructor prototype toString json_class $ref @type 0'.split(' ');
const name = fc.oneof(string, fc.constantFrom('""', ...names.map((text) => `"${text}"`)));

/** Texts of JSON: most of them accepted in an event, all of them hostile in kind. */
export const jsonText: fc.Arbitrary<string> = fc
  .tuple(
    fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')),
        fc.array(tie('value'), { maxLength: 4 }).map((values) => `[${values.join(' , ')}]`),
        fc
          .array(fc.tuple(name, tie('value')), { maxLength: 4 })
          .map((members) => `{${members.map((member) => member.join(' : ')).join(',')}}`),
      ),
    })).value,
    fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.integer({ min: 80, max: 101 })),
  )
  .map(([text, levels]) => `${'['.repeat(levels)}${text}${']'.repeat(levels)}`);

/** For comparison: -0 equals 0. */
export const asDoubles = (text: string): unknown =>
  JSON.parse(text, (_, value) => (typeof value === 'number' ? value + 0 : value));
