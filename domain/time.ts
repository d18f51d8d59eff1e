/** Whether the day with which a time in ISO 8601 begins exists: JavaScript reads February 30 as March 2. */
export function beginsWithDay(time: string): boolean {
  const day = time.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}
