import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { readWorkflows, runSteps } from './workflows';

/** What stands in a workflow's `run:`, by its file. */
export const runCommands: readonly string[] = readWorkflows()
  .flatMap(runSteps)
  .map(({ command }) => command);

/** A checkout of this repository in a folder of its own, and what a runner gives a step. */
export class Workspace {
  readonly output: string;
  readonly summary: string;
  private readonly tools: string;

  constructor(readonly folder: string) {
    // What steps write is not shared with the project.
    for (const name of readdirSync(projectRoot))
      if (!['.git', 'cdk.out', 'plan', 'outputs.json'].includes(name))
        symlinkSync(join(projectRoot, name), join(folder, name));
    this.output = join(folder, 'github-output');
    this.summary = join(folder, 'github-summary');
    this.tools = join(folder, 'tools');
    mkdirSync(this.tools);
    for (const file of [this.output, this.summary]) writeFileSync(file, '');
  }

  /** Has a command line do something else, as a shell script. */
  stub(command: string, script: string): void {
    writeFileSync(join(this.tools, command), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  }

  write(path: string, text: string): void {
    mkdirSync(join(this.folder, path, '..'), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  /** Runs a step as its workflow does. The command stands in one, word for word. */
  async step(command: string, variables: Readonly<Record<string, string | undefined>> = {}) {
    expect(runCommands).toContain(command);
    const { PATH, HOME } = process.env;
    const child = spawn('bash', ['-eo', 'pipefail', '-c', command], {
      cwd: this.folder,
      // With a socket as stdin, which a pipe of Node.js is, bash would run ~/.bashrc first.
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${this.tools}:${PATH}`,
        HOME,
        GITHUB_OUTPUT: this.output,
        GITHUB_STEP_SUMMARY: this.summary,
        ...variables,
      },
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text;
      });
    const [exitCode] = await once(child, 'close');
    return {
      exitCode,
      ...said,
      output: readFileSync(this.output, 'utf8'),
      summary: readFileSync(this.summary, 'utf8'),
    };
  }
}
