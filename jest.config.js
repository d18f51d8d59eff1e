// Silences the SDK's warnings about future Node.js requirements.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
// No stack traces of constructs: Jest would map every frame, a fifth of a synthesis's time, and templates do not contain them.
process.env.CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:disable-creation-stack-traces': true });

const shared = {
  testEnvironment: '<rootDir>/test/jest/one-realm.js',
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/jest/test-run.ts',
  globalTeardown: '<rootDir>/test/jest/tear-down.ts',
  transform: {
    // Packages except Jest's own, which run once per test file, and fauxqs, which has only ES modules.
    '\\.sql$|/node_modules/(?!fauxqs/|@?jest).+\\.c?js$': '<rootDir>/test/jest/transform.js',
    '^.+\\.(t|j|mj)s$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: ['/node_modules/@?jest'],
  // It has exports for `import` only, but Jest resolves `require`.
  moduleNameMapper: { '^fauxqs$': '<rootDir>/node_modules/fauxqs/dist/app.js' },
};

/** @type {import('jest').Config} */
module.exports = {
  reporters: ['default', '<rootDir>/test/jest/closing-line.js'],
  // Ends a test that hangs, and measures nothing: many times what any takes beside other load, so that none has its own.
  testTimeout: 600_000,
  // One more than the cores of a small machine, because many tests wait for processes.
  maxWorkers: 3,
  // The CDK retains memory of every stack: replaces large workers.
  workerIdleMemoryLimit: '600MB',
  projects: [
    {
      ...shared,
      displayName: 'parts',
      testMatch: ['**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/end-to-end/'],
    },
    { ...shared, displayName: 'end-to-end', testMatch: ['<rootDir>/test/end-to-end/**/*.test.ts'] },
  ],
};
