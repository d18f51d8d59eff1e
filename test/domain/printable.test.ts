import { printable, printableLine } from '../../domain/printable';

it('escapes what a terminal would execute or hide', () => {
  const hidden = ['\u001b', '\u202e', '\ufff9', '\u2028', '\ud83d', '\u3164'];
  expect(hidden.map(printable).join(' ')).toBe(String.raw`\u001b \u202e \ufff9 \u2028 \ud83d \u3164`);
  const shown = 'é\t\n😀';
  expect([printable(shown), printableLine(shown)]).toEqual([shown, String.raw`é\u0009\u000a😀`]);
});
