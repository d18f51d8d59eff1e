const { projects, reporters } = require('../../jest.config');

/**
 * `npm run test:tools`: what takes long or needs more than Node.js, and so is no part of `npm test`: CloudFormation's own rules, git, the AWS command line, `npm run compatible`.
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
