/** Closes a run with one line that any reader of logs understands. */
module.exports = class ClosingLine {
  onRunComplete(_, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests }) {
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    console.log(`${numPassedTests} passed, ${failed} failed${skipped}`);
  }
};
