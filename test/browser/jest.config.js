const { projects, reporters } = require('../../jest.config');

/**
 * `npm run test:browser`: the dashboard in a real Chromium. Not part of `npm test`, which needs only Node.js.
 * @type {import('jest').Config}
 */
module.exports = {
  ...projects[0],
  rootDir: '../..',
  roots: ['<rootDir>/test/browser'],
  displayName: 'browser',
  testMatch: ['**/*.browser.ts'],
  reporters,
  testTimeout: 60_000,
};
