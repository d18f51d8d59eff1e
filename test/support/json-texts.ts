import fc from 'fast-check';

/** As JSON permits to write them, not as a serializer does. */
const number = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,25})?([eE][+-]?[1-3]?\d{1,2})?$/),
  },
  fc.stringMatching(/^-?[1-9]\d{0,1009}(\.\d{1,1010})?(e-?[12]?\d{1,9})?$/),
);

/** Characters as they are or escaped, and halves of them. */
const unit = fc.oneof(
  { weight: 20, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
  { weight: 20, arbitrary: fc.constantFrom(...'aA "\\/\n\t.$é€😀\u2028\ufffe\u007f\u0001') },
  fc.constantFrom('\u0000', '\ud83d', '\ude00'),
);
const string = fc
  .array(fc.tuple(unit, fc.boolean()), { maxLength: 6 })
  .map((units) =>
    units.map(([text, isEscaped]) => (isEscaped ? escaped(text) : JSON.stringify(text).slice(1, -1))),
  )
  .map((units) => `"${units.join('')}"`);

const escaped = (text: string) =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
    .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
    .join('');

const known = ['__proto__', 'constructor', 'prototype', 'toString', 'json_class', '$ref', '@type', '', '0'];
const name = fc.oneof(
  string,
  fc.constantFrom(...known).map((text) => JSON.stringify(text)),
  fc.constantFrom(...known).map((text) => `"${escaped(text)}"`),
);

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
