import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { projectRoot, readSource } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

export const workflows = readdirSync(join(projectRoot, '.github/workflows')).map((name) => ({
  name,
  text: readSource(`.github/workflows/${name}`),
}));

export const commands = workflows.flatMap(({ text }) => {
  const jobs = Object.values<{ steps?: readonly { run?: string }[] }>(parse(text).jobs);
  return jobs.flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run?.trim() ?? []));
});

type Variables = Readonly<Record<string, string | undefined>>;

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

  /** Runs a command of a workflow as GitHub does, but a script of TypeScript in this process. */
  async step(command: string, variables: Variables = {}) {
    expect(commands).toContain(command);
    const [, script, values = ''] = /^node --require tsx\/cjs (\S+)(.*)$/.exec(command) ?? [];
    const args = Array.from(values.matchAll(/"\$(\w+)"/g), ([, name = '']) => variables[name] ?? '');
    return script ? this.run(script, args, variables) : this.start(command, variables);
  }

  /** Runs a command as GitHub does. */
  async start(command: string, variables: Variables = {}) {
    const { PATH, HOME } = process.env;
    const child = spawn('bash', ['-eo', 'pipefail', '-c', command], {
      cwd: this.folder,
      // With a socket as stdin (a Node.js pipe), bash would run ~/.bashrc first.
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: `${this.tools}:${PATH}`, HOME, ...this.files, ...variables },
    });
    const [printed, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { exitCode: exitCode as number, printed, ...this.written() };
  }

  /** Runs a script of `.ci` in this process. */
  async run(script: string, args: readonly string[], variables: Variables = {}) {
    expect(readSource(script)).toMatch(/^step\(module, run\);\n$/m);
    const { env } = process;
    const folder = process.cwd();
    const lines: string[] = [];
    const print = (line: unknown) => lines.push(String(line)) > 0;
    const prints = [
      jest.spyOn(console, 'log').mockImplementation(print),
      jest.spyOn(console, 'error').mockImplementation(print),
      jest.spyOn(process.stderr, 'write').mockImplementation(print),
    ];
    try {
      process.env = { ...env, ...this.files, ...variables };
      process.chdir(this.folder);
      await require(join(projectRoot, script)).run(...args);
    } catch (error) {
      print((error as Error).message);
      process.exitCode = 1;
    }
    const exitCode = process.exitCode ?? 0;
    process.exitCode = undefined;
    process.env = env;
    process.chdir(folder);
    for (const each of prints) each.mockRestore();
    return { exitCode: Number(exitCode), printed: lines.join('\n'), ...this.written() };
  }

  private get files() {
    return { GITHUB_OUTPUT: this.output, GITHUB_STEP_SUMMARY: this.summary };
  }

  private written() {
    return { output: readFileSync(this.output, 'utf8'), summary: readFileSync(this.summary, 'utf8') };
  }
}

/** Checkouts for the tests of a file. @returns a new one, within a test */
export function useWorkspaces(): () => Workspace {
  const folder = temporaryFolder();
  return () => new Workspace(mkdtempSync(join(folder(), 'checkout-')));
}
