// Writes a file's text as a comment of a pull request, or over the comment that it wrote before:
//   GITHUB_TOKEN=… PULL_REQUEST=1 node .ci/comment.js FILE      (the other variables are those of a GitHub workflow)
// It needs Node.js alone: where a token can write, no package is installed.
const { readFileSync } = require('node:fs');

const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_SERVER_URL, GITHUB_TOKEN, PULL_REQUEST } =
  process.env;
const repository = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}`;

/** By it the comment is found again; a reader does not see it. */
const marker = '<!-- the stacks of this change -->';

/** GitHub refuses more: "Body is too long (maximum is 65536 characters)". */
const longest = 65_536;

async function call(url, options = {}) {
  const response = await fetch(url, {
    ...options,
    headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${GITHUB_TOKEN}` },
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) {
    const { message } = await response.json().catch(() => ({}));
    throw new Error(`GitHub returned ${response.status} (${message}). The job needs pull-requests: write.`);
  }
  return response;
}

/** @returns the URL of the comment that this script wrote before, if any */
async function written() {
  for (let url = `${repository}/issues/${PULL_REQUEST}/comments?per_page=100`; url; ) {
    const response = await call(url);
    const found = (await response.json()).find(
      ({ body, user }) => user?.login === 'github-actions[bot]' && body?.startsWith(marker),
    );
    if (found) return found.url;
    url = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return undefined;
}

async function write(text) {
  const whole = `${marker}\n${text}`;
  // Above the text: the cut may fall into a code block.
  const notice = `Cut. All of it is in the [run's summary](${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}).`;
  const body = whole.length > longest ? `${marker}\n${notice}\n\n${text}`.slice(0, longest) : whole;
  const before = await written();
  const [method, url] = before
    ? ['PATCH', before]
    : ['POST', `${repository}/issues/${PULL_REQUEST}/comments`];
  await call(url, { method, body: JSON.stringify({ body }) });
}

write(readFileSync(process.argv[2], 'utf8')).catch((error) => {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
});
