/**
 * What a terminal obeys or does not show: controls but tab and newline, bidirectional and zero-width characters, other line
 * separators, halves of surrogate pairs. https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing
 */
const unprintable = /[^\P{Cc}\t\n]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const escaped = (text: string) =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

/** Writes what a terminal would obey or not show as JSON does, `\u202e`: in JSON the value stays the same. */
export const printable = (text: string): string => text.replace(unprintable, escaped);

/** As `printable`, tab and newline too. */
export const printableLine = (text: string): string => printable(text).replace(/[\t\n]/g, escaped);
