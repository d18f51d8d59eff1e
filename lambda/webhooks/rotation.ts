/** How long a rotated secret signs beside its successor: milliseconds. */
export const rotationOverlap = 24 * 3_600_000;
