import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = '.github/workflows';

/**
 * Lints workflows as GitHub's own editors do, without asking GitHub: the files that are named, or all of this project.
 * Exits with 1 when something was found. Part of `npm run lint`.
 */
async function lintWorkflows(files: readonly string[]): Promise<void> {
  // It has ES modules only.
  const { validate } = await import('@actions/languageservice');
  const { TextDocument } = await import('vscode-languageserver-textdocument');
  // Of a workflow that another one calls, for its outputs.
  const fileProvider = {
    getFileContent: async (reference: object) => {
      const name = 'path' in reference ? String(reference.path) : '';
      return { name, content: readFileSync(name, 'utf8') };
    },
  };
  for (const file of files) {
    const document = TextDocument.create(file, 'yaml', 1, readFileSync(file, 'utf8'));
    for (const { range, message } of await validate(document, { fileProvider })) {
      console.error(`${file}:${range.start.line + 1}: ${message}`);
      process.exitCode = 1;
    }
  }
  console.error(`Linted ${files.length} workflows.`);
}

const named = process.argv.slice(2);
void lintWorkflows(named.length > 0 ? named : readdirSync(folder).map((name) => join(folder, name)));
