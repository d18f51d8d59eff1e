import { parseJson } from '../json';
import { type AddressRange, rangesIn } from './ranges';

/**
 * The sources that a receiver's present list admits, each once, in their order: JSON, or the text of any of the
 * formats, or a plain list. Comments and descriptions count for nothing, nor does what one line (or one JSON object)
 * forbids.
 */
export function readCurrentAllowList(text: string): AddressRange[] {
  const json = parseJson(text);
  const found = json === undefined ? statements(text).flatMap(rangesIn) : textsIn(json).flatMap(rangesIn);
  return [...new Map(found.map((range) => [`${range.first}-${range.last}`, range])).values()];
}

const remarks: readonly RegExp[] = [
  // What a rule's own remark says, in all of the formats: comment "…", --comment …, description = "…".
  /\b(?:comment|description|\w*version)["']?\s*[:=]?\s*(?:"[^"\n]*"|'[^'\n]*')/gi,
  /--comment\s+\S+/g,
  /^\s*(?:-\s*)?(?:comment|description)\s*:.*$/gim,
  /<!--[\s\S]*?-->/g,
  /(?<=^|\s)\/\*[\s\S]*?\*\//g,
  /(?<=^|[\s;{}])(?:#|\/\/).*$/gm,
  /^\s*;.*$/gm,
];

/** Statements that refuse their sources: nginx, ufw, Apache, iptables, `ufw status`, nftables. */
const refusal =
  /^\s*(?:ufw\s+)?(?:deny|block|reject|drop)\b|^\s*require\s+not\b|-j\s+(?:DROP|REJECT)\b|\b(?:DENY|REJECT)\s+IN\b|\b(?:drop|reject)\s*$/i;

function statements(text: string): string[] {
  const bare = remarks.reduce((rest, remark) => rest.replace(remark, ' '), text);
  return bare.split(/[\n;]/).filter((statement) => !refusal.test(statement));
}

const remarkKey = /^(?:\/\/|comment|description|metadata|\w*version)$/i;
const refusalKey = /^(?:access|action|effect)$/i;
const refusalValue = /^(?:deny|block|drop|reject)/i;

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  const refuses = members.some(
    ([key, member]) => refusalKey.test(key) && typeof member === 'string' && refusalValue.test(member),
  );
  if (refuses) return [];
  return members.flatMap(([key, member]) => (remarkKey.test(key) ? [] : textsIn(member)));
}
