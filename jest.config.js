const { readdirSync } = require('node:fs');
const { join } = require('node:path');

// No stack traces of constructs: Jest would map every frame, a fifth of a synthesis's time, and templates do not contain them.
process.env.CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:disable-creation-stack-traces': true });

// What libraries read by themselves. Tests state what they need, and profiles are none of theirs.
const read = /^(AWS_|CDK_(?!CONTEXT_JSON)|JSII_|NODE_(PG_|TLS_|EXTRA_|USE_)|PG|(ALL|HTTPS?|NO)_PROXY$)/i;
for (const name of Object.keys(process.env)) if (read.test(name)) delete process.env[name];
process.env.NODE_ENV = 'test';
process.env.AWS_CONFIG_FILE = process.env.AWS_SHARED_CREDENTIALS_FILE = '/dev/null';

// Silences the SDK's warnings about future Node.js requirements.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

/** Folders rather than patterns, which would read the brackets and signs of a path as their own. */
const [endToEnd, parts] = [true, false].map((isEndToEnd) =>
  readdirSync(join(__dirname, 'test'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && (entry.name === 'end-to-end') === isEndToEnd)
    .map(({ name }) => join(__dirname, 'test', name)),
);

const shared = {
  testEnvironment: '<rootDir>/test/jest/one-realm.js',
  testMatch: ['**/*.test.ts'],
  globalSetup: '<rootDir>/test/jest/test-run.ts',
  globalTeardown: '<rootDir>/test/jest/tear-down.ts',
  transform: {
    '/lib/environments\\.ts$': '<rootDir>/test/jest/table.js',
    // Packages except Jest's own, which run once per test file, and fauxqs, which has only ES modules.
    '\\.sql$|/node_modules/(?!fauxqs/|@?jest).+\\.c?js$': '<rootDir>/test/jest/transform.js',
    '^.+\\.(t|j|mj)s$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: ['/node_modules/@?jest'],
};

/** @type {import('jest').Config} */
module.exports = {
  reporters: ['default', '<rootDir>/test/jest/closing-line.js'],
  // Ends a test that hangs, and measures nothing: many times what any takes beside other load, so that none has its own.
  testTimeout: 600_000,
  // One more than the cores of a small machine, because many tests wait for processes.
  maxWorkers: 3,
  // The CDK retains memory of every stack: replaces large workers.
  workerIdleMemoryLimit: '1GB',
  projects: [
    { ...shared, displayName: 'parts', roots: parts },
    { ...shared, displayName: 'end-to-end', roots: endToEnd },
  ],
};
