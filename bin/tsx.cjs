// Required before a program. This place knows in which ways the tools under us fail to start, and says each in a line: they
// would print a page of minified code. Not TypeScript, which tsx has yet to load.
const { existsSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { dirname } = require('node:path');
const { inspect } = require('node:util');

const root = dirname(__dirname);
const modules = `${root}/node_modules`;

/** What a failed tool says, and what we say instead: the first that fits. */
const failures = [
  [
    /installed esbuild for another platform|The package "@esbuild\/|Host version .* does not match binary version/,
    `${modules} is not of this machine (${process.platform}-${process.arch}): it was installed on another one, or in part. Run "npm ci" here.`,
  ],
  [
    /spawn(Sync)? \S*node_modules\/\S* EACCES|failed to map segment from shared object/,
    `Programs in ${modules} may not be executed: move the project to a file system without "noexec".`,
  ],
  [
    /^(EROFS|EACCES|EPERM|ENOENT|ENOTDIR|ENOSPC|EDQUOT): .*(mkdir|mkdtemp|open|write).*\/tsx-/s,
    `The folder for temporary files, ${tmpdir()}, cannot be written. Set TMPDIR to one that can.`,
  ],
];
const explain = (error) => failures.find(([pattern]) => pattern.test(error?.message))?.[1];

process.on('uncaughtException', (error) => {
  const known = explain(error);
  // The program's own listener, if it has come so far, prints the rest.
  if (!known && process.listenerCount('uncaughtException') > 1) return;
  console.error(known ? `error: ${known}` : inspect(error));
  process.exit(1);
});

const [unsupported] = /[?\\]|(?<=\/)node_modules(?=\/|$)/.exec(root) ?? [];
const problem = unsupported
  ? `${root} contains "${unsupported}", with which Node.js or tsx loads no program. Move the project to another folder.`
  : !existsSync(`${modules}/tsx`) && 'Run "npm ci" in the folder of the project first.';
if (problem) {
  console.error(`error: ${problem}`);
  process.exit(1);
}
process.env.TSX_TSCONFIG_PATH ??= `${root}/tsconfig.json`;
const { _extensions: loaders } = require('node:module');
const { '.js': loadAsNode } = loaders;
require('tsx/cjs');
const { '.js': loadByTsx } = loaders;
// tsx would parse every file of a package first, to see whether it is an ES module: a fifth of a synthesis. Node.js below 22.12 cannot
// load one so.
if (process.features.require_module)
  loaders['.js'] = (module, file) => (file.startsWith(`${modules}/`) ? loadAsNode : loadByTsx)(module, file);
