import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = '.github/workflows';

/**
 * Lints the workflows with the language service of GitHub's editors, offline. Exits with 1 for a finding. Part of `npm run lint`.
 */
async function lintWorkflows(): Promise<void> {
  // It has ES modules only.
  const { validate } = await import('@actions/languageservice');
  const { TextDocument } = await import('vscode-languageserver-textdocument');
  // Reads a workflow that another one calls, for its outputs.
  const fileProvider = {
    getFileContent: async (reference: object) => {
      const name = 'path' in reference ? String(reference.path) : '';
      return { name, content: readFileSync(name, 'utf8') };
    },
  };
  const files = readdirSync(folder).map((name) => join(folder, name));
  for (const file of files) {
    const document = TextDocument.create(file, 'yaml', 1, readFileSync(file, 'utf8'));
    for (const { range, message } of await validate(document, { fileProvider })) {
      console.error(`${file}:${range.start.line + 1}: ${message}`);
      process.exitCode = 1;
    }
  }
  console.error(`Linted ${files.length} workflows.`);
}

void lintWorkflows();
