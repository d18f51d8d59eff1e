// Node's version is pinned by whoever runs the tests; what later versions of the SDK will ask for is no news here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
// Where each construct was made: Jest maps every frame of it, a fifth of a synthesis's time, and no template holds it.
process.env.CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:disable-creation-stack-traces': true });

const shared = {
  testEnvironment: '<rootDir>/test/support/one-realm.js',
  roots: ['<rootDir>/test'],
  transform: {
    // The bundler imports SQL as text, and so do the tests.
    '\\.sql$': '<rootDir>/test/support/text-transform.js',
    // Not Jest's own, which runs each in a test file's stead, and not fauxqs, which has ES modules only.
    '/node_modules/(?!fauxqs/|@?jest).+\\.c?js$': '<rootDir>/test/support/native-packages.js',
    '^.+\\.(t|j|mj)s$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: ['/node_modules/@?jest'],
  // fauxqs exports itself to `import` only, and Jest resolves for `require`.
  moduleNameMapper: {
    '^fauxqs$': '<rootDir>/node_modules/fauxqs/dist/app.js',
    '^esbuild$': '<rootDir>/test/support/esbuild-once.ts',
  },
};

/** @type {import('jest').Config} */
module.exports = {
  reporters: ['default', '<rootDir>/test/support/closing-line.js'],
  testTimeout: 30_000,
  // One more than the cores of a small machine: many tests wait for processes, and leave a core to others meanwhile.
  maxWorkers: 3,
  // The CDK keeps something of every stack: a new worker takes over.
  workerIdleMemoryLimit: '600MB',
  projects: [
    {
      ...shared,
      displayName: 'parts',
      testMatch: ['**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/end-to-end/'],
      globalSetup: '<rootDir>/test/support/share-folder.ts',
      globalTeardown: '<rootDir>/test/support/tear-down.ts',
    },
    {
      ...shared,
      displayName: 'end-to-end',
      testMatch: ['<rootDir>/test/end-to-end/**/*.test.ts'],
      // All of these tests share one set of running environments; whoever runs other tests does not wait for it.
      globalSetup: '<rootDir>/test/support/start-local-environment.ts',
      globalTeardown: '<rootDir>/test/support/tear-down.ts',
    },
  ],
};
