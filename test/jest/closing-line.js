/** Closes a run with one line that any reader of logs understands. At the exit: Jest's own summary comes after all reporters. */
module.exports = class ClosingLine {
  constructor() {
    process.once('exit', () => this.line && console.log(this.line));
  }

  onRunComplete(_, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests }) {
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    this.line = `${numPassedTests} passed, ${failed} failed${skipped}`;
  }
};
