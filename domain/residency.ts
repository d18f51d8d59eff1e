import type { Template } from './assembly';

/** An accepted finding of the residency rules. */
export interface Acknowledgement {
  readonly logicalId: string;
  /** The rule's id with the finding's location, such as `unreviewed[Properties.Layers]`. */
  readonly rule: string;
  readonly reason: string;
}

/** The section of a template's metadata that gives reasons by logical id and rule. */
export const acknowledgementsSection = 'ResidencyAcknowledgements';

/** The acknowledgements in a template, as synthesized or as deployed. */
export function acknowledgementsIn({ Metadata = {} }: Template): readonly Acknowledgement[] {
  const section: Readonly<Record<string, Readonly<Record<string, string>>>> =
    Metadata[acknowledgementsSection] ?? {};
  return Object.entries(section).flatMap(([logicalId, reasons]) =>
    Object.entries(reasons).map(([rule, reason]) => ({ logicalId, rule, reason })),
  );
}
