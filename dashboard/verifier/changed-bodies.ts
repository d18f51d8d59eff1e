export interface ChangedBody {
  /** What was done to the pasted body, as it goes on after “the body”. */
  readonly how: string;
  readonly body: string;
}

/** What commonly happens to a body between its arrival and a clipboard, undone one at a time. */
export function changedBodies(body: string): readonly ChangedBody[] {
  const compact = compactJson(body);
  return [
    { how: 'without the line break at its end', body: body.replace(/\r?\n$/, '') },
    { how: 'without the white space around it', body: body.trim() },
    { how: 'with a line break at its end', body: `${body}\n` },
    { how: 'with Windows line breaks', body: body.replaceAll('\n', '\r\n') },
    { how: 'as compact JSON: something parsed it and wrote it anew', body: compact ?? body },
  ].filter((changed) => changed.body !== body);
}

function compactJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}
