import { retrySchedule } from '../../lambda/deliver-webhook/next-step';
import { readDocuments } from '../support/documents';

/** As the page writes times: `5:41:20`. */
function milliseconds(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}

it("the receivers' page has the time of every attempt", () => {
  const page = readDocuments().find(({ path }) => path === 'docs/receivers.md')?.text ?? '';
  const cells = Array.from(
    page.matchAll(/\| (\d+) \| (\d+:\d\d:\d\d) (?=\|)/g),
    ([, attempt, time = '']) => ({
      attempt: Number(attempt),
      time: milliseconds(time),
    }),
  );
  const told = cells.sort((one, other) => one.attempt - other.attempt);
  expect(told).toEqual(retrySchedule.map((time, index) => ({ attempt: index + 1, time })));
});
