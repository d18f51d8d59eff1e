import jestConfig from '../../jest.config.js';

const [parts] = jestConfig.projects;

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ['domain/**/*.ts', 'lambda/**/*.ts', 'lib/checks/**/*.ts', '!**/*.d.ts'],
  testRunner: 'jest',
  jest: {
    configFile: 'jest.config.js',
    config: {
      ...parts,
      projects: [],
      // Jest finds the tests of a mutated file through the imports of files below these.
      roots: ['test', 'domain', 'lambda', 'lib'].map((folder) => `<rootDir>/${folder}`),
      // Stryker wraps it and does not support <rootDir>.
      testEnvironment: './test/jest/one-realm.js',
      // Other tests start environments and processes: too slow for each mutant.
      testMatch: ['<rootDir>/test/{checks,contract,domain,lambda}/**/*.test.ts'],
    },
  },
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  // Stryker would rewrite the file with an API that TypeScript 7 does not have.
  tsconfigFile: 'none',
  // Below the measured score: docs/measurements.md.
  thresholds: { high: 90, low: 80, break: 70 },
  ignorePatterns: ['.local', 'cdk.out'],
  tempDirName: 'coverage/mutation',
  reporters: ['clear-text', 'json'],
  jsonReporter: { fileName: 'coverage/mutation.json' },
};
