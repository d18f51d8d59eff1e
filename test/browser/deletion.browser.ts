import type { Page } from 'playwright-core';
import { startLoopbackServer } from '../../local/network/loopback-server';
import { first } from '../support/rows';
import { environment, names, openDashboard, openForm, opening, textOf, useDashboards } from './dashboard';
import { credentials, type Seeded, seed, type Typed } from './seeded';

useDashboards();

async function type(page: Page, { userGroupId, token, action }: Typed): Promise<void> {
  await openForm(page);
  await page.getByLabel('User group id').fill(userGroupId);
  await page.getByLabel('Access token').fill(token);
  await page.getByLabel('User action signature').fill(action);
}

const ask = (page: Page) => page.getByRole('button', { name: 'Delete…' }).click();
const confirm = (page: Page) => page.getByRole('button', { name: 'Delete the user group' }).click();
const answer = (page: Page) => textOf(page.locator('#delete-result .panel'));

async function remove(page: Page, typed: Typed): Promise<string> {
  await type(page, typed);
  await ask(page);
  await confirm(page);
  return answer(page);
}

const secrets = (page: Page) =>
  Promise.all(['Access token', 'User action signature'].map((label) => page.getByLabel(label).inputValue()));

describe.each(names)('in %s', (name) => {
  it('a user group is deleted after it was asked for twice, and nothing is kept of the tokens', async () => {
    const seeded = await seed(name);
    const typed = await credentials(name, seeded);
    const { page, requests, complaints } = await openDashboard(name);
    expect(await remove(page, typed)).toMatch(/^The user group is deleted\n+ug-[\s\S]*\{\}$/);
    expect(await secrets(page)).toEqual(['', '']);
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')).toBe(
      '[{},{},""]',
    );
    expect(await page.content()).not.toContain(typed.token);
    expect(requests()).toEqual([
      ...opening(name),
      `DELETE ${environment().outputs(name).ApiBaseUrl}/auth/user-groups/${typed.userGroupId}`,
    ]);
    expect(complaints).toEqual([]);
    expect(await remove(page, await credentials(name, seeded))).toMatch(
      /^The API refuses: 404 user_group_not_found\n/,
    );
  });

  it('nothing is sent when the dialog is left, by its button or by Escape', async () => {
    const typed = await credentials(name, await seed(name));
    const { page, requests } = await openDashboard(name);
    await type(page, typed);
    await ask(page);
    await page.getByRole('dialog').getByText(typed.userGroupId).waitFor();
    await page.getByRole('button', { name: 'Keep it' }).click();
    await ask(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(requests()).toEqual(opening(name));
    expect(await secrets(page)).toEqual([typed.token, typed.action]);
    expect(await remove(page, typed)).toMatch(/^The user group is deleted\n/);
  });

  it.each<[string, string, (seeded: Seeded) => Promise<Typed>]>([
    [
      'a delegated user',
      '403 caller_kind_not_allowed',
      (seeded) => credentials(name, { ...seeded, callerId: seeded.endUserId }),
    ],
    [
      'a token that is none, refused by the gateway',
      '401 token_malformed',
      async (seeded) => ({ ...(await credentials(name, seeded)), token: 'not.a.token' }),
    ],
  ])('%s is refused with the API’s own answer: %s', async (_, refusal, prepare) => {
    const { page } = await openDashboard(name);
    const shown = await remove(page, await prepare(await seed(name)));
    expect(shown).toMatch(new RegExp(`^The API refuses: ${refusal}\n`));
    expect(shown).toContain('"requestId": "');
  });
});

it('what cannot be right is not sent, and the first field of them has the focus', async () => {
  const { page, requests } = await openDashboard(first.name);
  await type(page, { userGroupId: 'ug-1', token: '', action: 'two words' });
  await ask(page);
  expect(await page.locator('#delete .problem').allInnerTexts()).toEqual([
    expect.stringContaining('This is no id of a user group'),
    'Paste an access token.',
    expect.stringContaining('characters that no token has'),
  ]);
  expect(await page.evaluate('document.activeElement.id')).toBe('delete-id');
  expect(await page.getByRole('dialog').isVisible()).toBe(false);
  expect(requests()).toEqual(opening(first.name));
});

it('token and signature are cleared when nothing was typed for five minutes, and the id stays', async () => {
  const { page } = await openDashboard(first.name);
  await page.clock.install();
  await type(page, { userGroupId: 'ug-1', token: 'a', action: 'b' });
  await page.clock.fastForward('05:01');
  expect(await secrets(page)).toEqual(['', '']);
  expect(await page.getByLabel('User group id').inputValue()).toBe('ug-1');
});

it('the form is open for who follows a link to it', async () => {
  const { page } = await openDashboard(first.name);
  await page.getByRole('link', { name: 'Delete a user group' }).click();
  await page.getByLabel('User group id').waitFor();
});

it('a token that was copied with its scheme and a line break is taken for what it is', async () => {
  const seeded = await seed(first.name);
  const { token, ...others } = await credentials(first.name, seeded);
  const { page } = await openDashboard(first.name);
  expect(await remove(page, { ...others, token: ` Bearer ${token} ` })).toMatch(
    /^The user group is deleted\n/,
  );
});

it('a question that is repeated at once waits for its own answer', async () => {
  const typed = await credentials(first.name, await seed(first.name));
  const { page } = await openDashboard(first.name);
  await type(page, typed);
  await ask(page);
  // Within one task: the first question's event `close` comes when the second is open.
  await page.evaluate(`(() => {
    document.getElementById('confirm-no').click();
    document.getElementById('delete-form').requestSubmit();
  })()`);
  await page.evaluate('new Promise((passed) => requestAnimationFrame(() => setTimeout(passed)))');
  await confirm(page);
  expect(await answer(page)).toMatch(/^The user group is deleted\n/);
});

it('an API that does not answer is no refusal: the group may be gone', async () => {
  const typed = await credentials(first.name, await seed(first.name));
  const { page } = await openDashboard(first.name);
  await page.route('**/auth/**', (route) => route.abort('connectionreset'));
  expect(await remove(page, typed)).toMatch(/^The API gave no answer\n[\s\S]*may have been carried out/);
  expect(await secrets(page)).toEqual(['', '']);
});

it('a page of another origin may neither delete nor read a refusal', async () => {
  const html = { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<p>Another page' };
  const server = await startLoopbackServer(async () => html, 1_000);
  try {
    const { userGroupId, token, action } = await credentials(first.name, await seed(first.name));
    const { page } = await openDashboard(first.name, { address: `${server.url}/` });
    const target = JSON.stringify(
      `${environment().outputs(first.name).ApiBaseUrl}/auth/user-groups/${userGroupId}`,
    );
    const headers = JSON.stringify({ Authorization: `Bearer ${token}`, 'X-SVC-USERACTION': action });
    const attempt = (options: string) =>
      page.evaluate(`fetch(${target}, ${options}).then(() => 'read', (error) => error.name)`);
    expect(await attempt(`{ method: 'DELETE', headers: ${headers} }`)).toBe('TypeError');
    expect(await attempt(`{ method: 'GET' }`)).toBe('TypeError');
    const { page: dashboard } = await openDashboard(first.name);
    expect(await remove(dashboard, { userGroupId, token, action })).toMatch(/^The user group is deleted\n/);
  } finally {
    await server.close();
  }
});
