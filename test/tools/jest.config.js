const { projects, reporters } = require('../../jest.config');

/**
 * `npm run test:tools`: tests that are slow or need more than Node.js, and so are not part of `npm test`: CloudFormation's own rules, Apache,
 * Go, Java, jq, nftables, PHP, Python, Ruby.
 * @type {import('jest').Config}
 */
module.exports = {
  rootDir: '../..',
  roots: ['<rootDir>/test/tools'],
  testEnvironment: projects[0].testEnvironment,
  testMatch: ['**/*.tool.ts'],
  transform: projects[0].transform,
  transformIgnorePatterns: projects[0].transformIgnorePatterns,
  reporters,
  testTimeout: 30_000,
  maxWorkers: 2,
};
