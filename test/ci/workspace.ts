import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../architecture/sources';

/** The workflows. */
export const workflows = readdirSync(join(projectRoot, '.github/workflows')).map((name) => ({
  name,
  text: readFileSync(join(projectRoot, '.github/workflows', name), 'utf8'),
}));

/** The commands that a workflow runs. */
export function commandsOf({ text }: { readonly text: string }): readonly string[] {
  const jobs = Object.values<{ steps?: readonly { run?: string }[] }>(parse(text).jobs);
  return jobs.flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run?.trim() ?? []));
}

/** Of all workflows. */
export const commands = workflows.flatMap(commandsOf);

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
    expect(commands).toContain(command);
    const { PATH, HOME } = process.env;
    const child = spawn('bash', ['-eo', 'pipefail', '-c', command], {
      cwd: this.folder,
      // With a socket as stdin (a Node.js pipe), bash would run ~/.bashrc first.
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: `${this.tools}:${PATH}`,
        HOME,
        GITHUB_OUTPUT: this.output,
        GITHUB_STEP_SUMMARY: this.summary,
        ...variables,
      },
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [exitCode] = await once(child, 'close');
    const [output, summary] = [this.output, this.summary].map((file) => readFileSync(file, 'utf8'));
    return { exitCode, stderr, output: output ?? '', summary: summary ?? '' };
  }
}
