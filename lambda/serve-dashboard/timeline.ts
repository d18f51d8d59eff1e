import { retrySchedule } from '../../domain/delivery';
import { type Html, html } from './html';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const units = [
  [hour, 'h'],
  [minute, 'min'],
  [second, 's'],
] as const;

/** The two largest units: `71 h 22 min`. @param time milliseconds */
function duration(time: number): string {
  const counts = units.map(([size, unit], index) => {
    const larger = units[index - 1]?.[0] ?? Number.POSITIVE_INFINITY;
    return [Math.floor((time % larger) / size), unit] as const;
  });
  const first = counts.findIndex(([count]) => count > 0);
  const shown = counts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ') || '0 s';
}

/** A position on an axis of this length, in percent of the width: lengths scale, letters and dots do not. */
const position = (time: number, length: number) => `${(2 + (96 * time) / length).toFixed(2)}%`;

interface Axis {
  /** Milliseconds. */
  readonly length: number;
  /** Milliseconds between two ticks. */
  readonly step: number;
  readonly y: number;
  readonly labelY: number;
}

function axis({ length, step, y, labelY }: Axis): Html {
  const ticks = Array.from({ length: length / step + 1 }, (_, index) => index * step);
  return html`<g stroke="currentColor" fill="currentColor"><line x1="2%" x2="98%" y1="${y}" y2="${y}"/>${ticks.map(
    (time) => {
      const x = position(time, length);
      return html`<line x1="${x}" x2="${x}" y1="${y - 8}" y2="${y + 8}"/>
        <text x="${x}" y="${labelY}" text-anchor="middle" stroke="none">${duration(time)}</text>`;
    },
  )}</g><g stroke="var(--ground)" fill="var(--accent)">${retrySchedule
    .filter((time) => time <= length)
    .map(
      (time, index) => html`<circle cx="${position(time, length)}" cy="${y}" r="6">
        <title>Attempt ${index + 1}: ${duration(time)}</title></circle>`,
    )}</g>`;
}

/** Every attempt to scale: those of 72 hours, below them those of the first hour, then the times. */
export function timeline(): Html {
  const days = 72 * hour;
  const zoom = [0, hour].map((time) => {
    const [from, to] = [position(time, days), position(time, hour)];
    return html`<line x1="${from}" x2="${to}" y1="36" y2="112"/>`;
  });
  return html`<svg width="100%" overflow="visible" height="156" font-size="13" aria-hidden="true">
      <g stroke="currentColor" stroke-dasharray="3" opacity="0.4">${zoom}</g>
      ${axis({ length: days, step: 12 * hour, y: 36, labelY: 16 })}
      ${axis({ length: hour, step: 15 * minute, y: 112, labelY: 140 })}
    </svg>
    <ol class="times quiet">${retrySchedule.map((time) => html`<li>${duration(time)}</li>`)}</ol>`;
}
