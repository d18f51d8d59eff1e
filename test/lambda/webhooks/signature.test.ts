import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { transformSync } from 'esbuild';
import { WebhookVerificationError } from 'standardwebhooks';
import { type SignedContent, secretText, sign } from '../../../lambda/webhooks/signature';
import { readDocuments } from '../../support/documents';

const present = () => Math.floor(Date.now() / 1_000);
const content = (change: Partial<SignedContent> = {}): SignedContent => ({
  id: 'msg_1',
  timestamp: present(),
  body: '{"id":"ev-1","data":"€ 12"}',
  ...change,
});
const headers = (signed: SignedContent, signature: string) => ({
  'webhook-id': signed.id,
  'webhook-timestamp': String(signed.timestamp),
  'webhook-signature': signature,
});

it("signs the specification's own example", () => {
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const example = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' };
  expect(sign(example, [secret])).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

it('puts one signature for each secret, the first secret first, with a space between', () => {
  const secrets = [randomBytes(32), randomBytes(32)];
  const signed = content();
  expect(sign(signed, secrets)).toBe(secrets.map((secret) => sign(signed, [secret])).join(' '));
});

type Verify = (secret: string, signed: Record<string, string>, body: string) => boolean;

/** The only code block of a document in a language. */
function snippet(path: string, language: string): string {
  const [code, ...others] = codeBlocks(path).filter((block) => block.language === language);
  if (!code || others.length > 0) throw new Error(`${path} must have one block of ${language}`);
  return code.text;
}

function codeBlocks(path: string): { language: string; text: string }[] {
  const text = readDocuments().find((document) => document.path === path)?.text ?? '';
  const blocks = text.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm);
  return Array.from(blocks, ([, language = '', code = '']) => ({ language, text: code }));
}

it('every snippet of the documents is one that runs below', () => {
  // SQL runs in test/docs/copy-groups.test.ts.
  const notCode = ['', 'sh', 'json', 'diff', 'mermaid', 'sql'];
  const shown = readDocuments().flatMap(({ path }) =>
    codeBlocks(path)
      .filter(({ language }) => !notCode.includes(language))
      .map(({ language }) => `${path}: ${language}`),
  );
  expect(shown.sort()).toEqual([
    'README.md: ts',
    'docs/receivers.md: python',
    'docs/receivers.md: typescript',
  ]);
});

const byLibrary: Verify = (() => {
  const { code } = transformSync(snippet('README.md', 'ts'), { loader: 'ts', format: 'cjs' });
  const run = new Function('require', 'secret', 'body', 'headers', code);
  return (secret, signed, body) => {
    try {
      run(require, secret, body, signed);
      return true;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return false;
      throw error;
    }
  };
})();

const byTypeScript: Verify = (() => {
  const { code } = transformSync(snippet('docs/receivers.md', 'typescript'), { loader: 'ts', format: 'cjs' });
  const module = { exports: {} as { verify: Verify } };
  new Function('require', 'module', code)(require, module);
  return module.exports.verify;
})();

const hasPython = spawnSync('python3', ['--version']).status === 0;
const byPython: Verify = (secret, signed, body) => {
  const program = `${snippet('docs/receivers.md', 'python')}\nimport json, sys\nsecret, signed, body = json.load(sys.stdin)\nprint(verify(secret, signed, body.encode()))`;
  const input = JSON.stringify([secret, signed, body]);
  return execFileSync('python3', ['-c', program], { input, encoding: 'utf8' }).trim() === 'True';
};

/** Python is not on every machine that has Node.js. */
const receivers: [string, Verify][] = [
  ["the front page's lines with the standardwebhooks package", byLibrary],
  ["the receivers' page's TypeScript", byTypeScript],
];
if (hasPython) receivers.push(["the receivers' page's Python", byPython]);

describe.each(receivers)('a receiver with %s', (_name, verify) => {
  const secret = randomBytes(32);
  const signed = content();
  const signature = sign(signed, [secret]);
  const text = secretText(secret);

  it('accepts what was signed', () => {
    expect(verify(text, headers(signed, signature), signed.body)).toBe(true);
  });

  it('accepts either of the secrets of a rotation', () => {
    const old = randomBytes(32);
    const both = sign(signed, [secret, old]);
    expect(verify(text, headers(signed, both), signed.body)).toBe(true);
    expect(verify(secretText(old), headers(signed, both), signed.body)).toBe(true);
  });

  it.each<[string, Record<string, string>, string]>([
    ['another body', {}, `${signed.body} `],
    ['another id', { 'webhook-id': 'msg_2' }, signed.body],
    ['another time', { 'webhook-timestamp': String(signed.timestamp + 1) }, signed.body],
    ['no signature', { 'webhook-signature': '' }, signed.body],
    ['a signature of another secret', { 'webhook-signature': sign(signed, [randomBytes(32)]) }, signed.body],
    ['a signature cut short', { 'webhook-signature': signature.slice(0, -4) }, signed.body],
    ['noise for a time', { 'webhook-timestamp': 'now' }, signed.body],
  ])('refuses %s', (_change, change, body) => {
    expect(verify(text, { ...headers(signed, signature), ...change }, body)).toBe(false);
  });

  it('refuses what was signed long ago', () => {
    const old = content({ timestamp: present() - 3_600 });
    expect(verify(text, headers(old, sign(old, [secret])), old.body)).toBe(false);
  });
});
