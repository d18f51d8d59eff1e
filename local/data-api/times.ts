import { DataApiError } from './errors';

const iso = /^(\d{4,}-\d\d-\d\d)?( ?\d\d:\d\d:\d\d(\.\d+)?)?( BC)?$/;
const isoWithOffset =
  /^(\d{4,})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(\.\d+)?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/;

/**
 * The answer's text of PostgreSQL's text of a date, time or timestamp. A fraction has no, three or six digits: as
 * captured from the service, documented nowhere.
 */
export function timeText(text: string): string {
  refuseInfinity(text);
  if (!iso.test(text)) throw notIso();
  return withFraction(text);
}

/** The same for a timestamp with time zone: in UTC, and without a zone, whichever the session's is. */
export function utcText(text: string): string {
  refuseInfinity(text);
  const parts = isoWithOffset.exec(text);
  if (!parts) throw notIso();
  const [, year, month, day, hour, minute, second, fraction = '', sign, ...rest] = parts;
  const [offsetHours, offsetMinutes = 0, offsetSeconds = 0, era] = rest;
  const offset = Number(offsetHours) * 3600 + Number(offsetMinutes) * 60 + Number(offsetSeconds);
  // Most texts, and the only ones of years that a Date may not hold.
  if (offset === 0) return withFraction(text.replace('+00', ''));
  const local = new Date(0);
  local.setUTCFullYear(era ? 1 - Number(year) : Number(year), Number(month) - 1, Number(day));
  local.setUTCHours(Number(hour), Number(minute), Number(second) - Number(`${sign}${offset}`));
  const utcYear = local.getUTCFullYear();
  const shownYear = String(utcYear > 0 ? utcYear : 1 - utcYear).padStart(4, '0');
  const afterYear = local
    .toISOString()
    .slice(-'-MM-DDThh:mm:ss.sssZ'.length, -'.sssZ'.length)
    .replace('T', ' ');
  return withFraction(`${shownYear}${afterYear}${fraction}${utcYear > 0 ? '' : ' BC'}`);
}

function withFraction(text: string): string {
  return text.replace(/\.\d+/, (fraction) => fraction.padEnd(fraction.length <= 4 ? 4 : 7, '0'));
}

/** The service answers a bare internal error; captured, documented nowhere. */
function refuseInfinity(text: string): void {
  if (text.endsWith('infinity')) {
    throw new DataApiError('InternalServerErrorException', 'infinite date or timestamp in the result');
  }
}

function notIso(): DataApiError {
  return new DataApiError(
    'UnsupportedResultException',
    'The result contains a date or time that is not in ISO form: DateStyle must stay ISO.',
  );
}
