import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run, toolFolder } from './tool';

// A virtual environment takes seconds.
jest.setTimeout(120_000);

const folder = toolFolder();
const ci = resolve(__dirname, '../../.ci');

/** Makes a package of this version that pip installs, in place of the one on PyPI. */
async function makePackage(version: string): Promise<void> {
  const information = `cfn_lint-${version}.dist-info`;
  const files = {
    'cfnlint.py': `def main():\n    print('cfn-lint ${version}')\n`,
    [`${information}/METADATA`]: `Metadata-Version: 2.1\nName: cfn-lint\nVersion: ${version}\n`,
    [`${information}/WHEEL`]: 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${information}/entry_points.txt`]: '[console_scripts]\ncfn-lint = cfnlint:main\n',
    [`${information}/RECORD`]: '',
  };
  const wheel = join(folder.path(), `cfn_lint-${version}-py3-none-any.whl`);
  const source = `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    for name, text in json.loads(sys.argv[2]).items():
        wheel.writestr(name, text)
`;
  const { exitCode, output } = await run('python3', ['-c', source, wheel, JSON.stringify(files)]);
  expect({ exitCode, output }).toEqual({ exitCode: 0, output: '' });
}

it('.ci/install-cfn-lint installs the pinned version, and later steps of a workflow find it', async () => {
  const [, pinned = ''] = /^cfn-lint==(.+)$/m.exec(readFileSync(join(ci, 'requirements.txt'), 'utf8')) ?? [];
  await makePackage(pinned);
  // pip would take the newest, were it not told.
  await makePackage('9999.0.0');
  const { exitCode, output } = await run(
    'bash',
    [join(ci, 'install-cfn-lint'), join(folder.path(), 'venv')],
    {
      PIP_NO_INDEX: '1',
      PIP_FIND_LINKS: folder.path(),
      GITHUB_PATH: join(folder.path(), 'path'),
    },
  );
  expect({ exitCode, output }).toEqual({ exitCode: 0, output: '' });
  const path = readFileSync(join(folder.path(), 'path'), 'utf8').trim();
  expect(await run(join(path, 'cfn-lint'), ['--version'])).toEqual({
    exitCode: 0,
    output: `cfn-lint ${pinned}\n`,
  });
});
