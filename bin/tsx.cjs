// Required before a program: without these, tsx would fail with an error of its own.
const { existsSync } = require('node:fs');
const { dirname } = require('node:path');

const root = dirname(__dirname);
const [unsupported] = /[?\\]|(?<=\/)node_modules(?=\/|$)/.exec(root) ?? [];
const problem = unsupported
  ? `${root} contains "${unsupported}", with which Node.js or tsx loads no program. Move the project to another folder.`
  : !existsSync(`${root}/node_modules/tsx`) && 'Run "npm ci" in the folder of the project first.';
if (problem) {
  console.error(`error: ${problem}`);
  process.exit(1);
}
process.env.TSX_TSCONFIG_PATH ??= `${root}/tsconfig.json`;
require('tsx/cjs');
