/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: {
    // The bundler imports SQL as text, and so do the tests.
    '\\.sql$': '<rootDir>/test/support/text-transform.js',
    '^.+\\.(t|j|mj)s$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!(fauxqs)/)'],
  // fauxqs exports itself to `import` only, and Jest resolves for `require`.
  moduleNameMapper: { '^fauxqs$': '<rootDir>/node_modules/fauxqs/dist/app.js' },
  testTimeout: 30_000,
  maxWorkers: 2,
};
