import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { commandsOf, readWorkflows } from './workflows';

/** The commands of all workflows. */
export const runCommands: readonly string[] = readWorkflows().flatMap(commandsOf);

/** A checkout of this repository, with the files that a GitHub runner gives a step. */
export class Workspace {
  readonly output: string;
  readonly summary: string;
  private readonly tools: string;

  constructor(readonly folder: string) {
    // Excludes files that steps write.
    for (const name of readdirSync(projectRoot))
      if (!['.git', 'cdk.out', 'plan', 'outputs.json'].includes(name))
        symlinkSync(join(projectRoot, name), join(folder, name));
    this.output = join(folder, 'github-output');
    this.summary = join(folder, 'github-summary');
    this.tools = join(folder, 'tools');
    mkdirSync(this.tools);
    for (const file of [this.output, this.summary]) writeFileSync(file, '');
  }

  /** Replaces a command by a shell script. */
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

  /** Runs a command of a workflow as GitHub does. */
  async step(command: string, variables: Readonly<Record<string, string | undefined>> = {}) {
    expect(runCommands).toContain(command);
    const { PATH, HOME } = process.env;
    const child = spawn('bash', ['-eo', 'pipefail', '-c', command], {
      cwd: this.folder,
      // With a socket as stdin (a Node.js pipe), bash would run ~/.bashrc first.
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${this.tools}:${PATH}`,
        HOME,
        GITHUB_OUTPUT: this.output,
        GITHUB_STEP_SUMMARY: this.summary,
        ...variables,
      },
    });
    const printed = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        printed[name] += text;
      });
    const [exitCode] = await once(child, 'close');
    return {
      exitCode,
      ...printed,
      output: readFileSync(this.output, 'utf8'),
      summary: readFileSync(this.summary, 'utf8'),
    };
  }
}
