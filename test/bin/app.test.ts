const mockCreateApp = jest.fn((_options: object) => ({
  synth: () => ({ stacks: [], directory: 'cdk.out' }),
}));
jest.mock('../../lib/environments-app', () => ({ createApp: mockCreateApp }));
jest.mock('../../lib/functions/builds', () => ({ startBuilds: () => undefined }));
jest.mock('../../lib/thread', () => ({ startThread: (worker: string) => worker }));

it.each([
  [undefined, { validateTemplates: true, rulesThread: expect.stringMatching(/rules-worker\.ts$/) }],
  ['false', { validateTemplates: false, rulesThread: undefined }],
])('with CDK_VALIDATION=%s, the app checks its templates unless that is false', (CDK_VALIDATION, options) => {
  jest.replaceProperty(process, 'env', { ...process.env, CDK_VALIDATION });
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  jest.isolateModules(() => require('../../bin/app'));
  expect(mockCreateApp).toHaveBeenLastCalledWith(expect.objectContaining(options));
  jest.restoreAllMocks();
});
