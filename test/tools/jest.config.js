const { projects, reporters } = require('../../jest.config');

/**
 * `npm run test:tools`: `npm run diff` on a repository of git, and the AWS command line against the local services. No part of `npm test`, which needs Node.js alone.
 * @type {import('jest').Config}
 */
module.exports = {
  rootDir: '../..',
  roots: ['<rootDir>/test/tools'],
  testEnvironment: 'node',
  testMatch: ['**/*.tool.ts'],
  transform: projects[0].transform,
  reporters,
  testTimeout: 30_000,
  maxWorkers: 2,
};
