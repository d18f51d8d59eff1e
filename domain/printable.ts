/**
 * Characters that a terminal executes or hides: controls except tab and newline, bidirectional and zero-width characters, other line
 * separators, unpaired surrogates. https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing
 */
const unprintable = /[^\P{Cc}\t\n]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const escaped = (text: string) =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

/** Escapes what a terminal would execute or hide as JSON does, `\u202e`: a JSON text keeps its value. */
export const printable = (text: string): string => text.replace(unprintable, escaped);

/** Like `printable`, and also escapes tab and newline. */
export const printableLine = (text: string): string => printable(text).replace(/[\t\n]/g, escaped);
