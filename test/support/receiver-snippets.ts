import { readDocuments } from './documents';

/** A block of code in a document. */
export interface CodeBlock {
  readonly path: string;
  /** The heading that it stands under. */
  readonly heading: string;
  readonly language: string;
  readonly code: string;
}

/** The blocks of code of all documents. */
export function codeBlocks(): readonly CodeBlock[] {
  return readDocuments().flatMap(({ path, text }) => {
    let heading = '';
    return Array.from(text.matchAll(/^#+ (.*)$|^ *```(\w*)\n([\s\S]*?)^ *```$/gm)).flatMap(
      ([, title, language = '', code = '']) => {
        heading = title ?? heading;
        return title === undefined ? [{ path, heading, language, code }] : [];
      },
    );
  });
}

/** What stands under a heading of the page for receivers who verify. @throws Error unless it is one block */
export function receiverSnippet(heading: string): string {
  const found = codeBlocks().filter(
    (block) => block.path === 'docs/receivers-verifying.md' && block.heading === heading,
  );
  const [block, ...others] = found;
  if (!block || others.length > 0) throw new Error(`${found.length} blocks stand under "${heading}".`);
  return block.code;
}
