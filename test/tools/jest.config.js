const { projects, reporters, testTimeout } = require('../../jest.config');

/**
 * `npm run test:tools`: tests that are slow or need more than Node.js, and so are not part of `npm test`: CloudFormation's own rules, Apache,
 * Go, Java, jq, nftables, PHP, Python, Ruby.
 * @type {import('jest').Config}
 */
module.exports = {
  ...projects[0],
  rootDir: '../..',
  roots: ['<rootDir>/test/tools'],
  testMatch: ['**/*.tool.ts'],
  reporters,
  testTimeout,
  maxWorkers: 2,
};
