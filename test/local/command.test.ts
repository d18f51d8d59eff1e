import { resolve } from 'node:path';
import { runLocalCommand } from '../../lib/local/command';
import { createTerminal } from '../../lib/operations/terminal';

const projectRoot = resolve(__dirname, '../..');

it.each(['', '.', '..', 'lib/..', projectRoot, '/'])(
  'a state in "%s", which holds the project, is used wrongly',
  async (folder) => {
    let stderr = '';
    const output = {
      write: (text: string) => {
        stderr += text;
      },
    };
    const context = { terminal: createTerminal(output, output), projectRoot, onSignal: () => undefined };
    expect(await runLocalCommand(['--state', folder], context)).toBe(2);
    expect(stderr).toContain(
      `argument '${folder}' is invalid. Give a folder of its own, such as .local: ${resolve(projectRoot, folder)} holds the project.`,
    );
  },
);
