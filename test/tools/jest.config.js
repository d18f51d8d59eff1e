const { projects, reporters } = require('../../jest.config');

/**
 * `npm run test:tools`: cfn-lint, git and the AWS command line.
 * No part of `npm test`, which needs Node.js alone.
 * @type {import('jest').Config}
 */
module.exports = {
  rootDir: '../..',
  roots: ['<rootDir>/test/tools'],
  testEnvironment: 'node',
  testMatch: ['**/*.tool.ts'],
  transform: projects[0].transform,
  globalSetup: '<rootDir>/test/tools/required-tools.ts',
  reporters,
  testTimeout: 30_000,
  maxWorkers: 2,
};
