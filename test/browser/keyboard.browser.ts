import type { Page } from 'playwright-core';
import { first } from '../support/rows';
import { openDashboard, textOf, useDashboards } from './dashboard';
import { credentials, seed } from './seeded';

useDashboards();

interface Focused {
  /** What a screen reader calls it, shortened. */
  readonly name: string;
  readonly visible: boolean;
}

/** The element that has the focus, and whether people see that it has. */
async function focused(page: Page): Promise<Focused> {
  return (await page.evaluate(`(() => {
    const element = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const label = element.labels?.[0]?.textContent ?? element.textContent;
    return {
      name: label.replace(/\\s+/g, ' ').trim(),
      visible: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && element.getBoundingClientRect().top >= 0,
    };
  })()`)) as Focused;
}

async function tab(page: Page, times = 1): Promise<string> {
  for (let i = 0; i < times; i++) await page.keyboard.press('Tab');
  return (await focused(page)).name;
}

it('everything can be reached in the order in which it is read, and is seen to be', async () => {
  const { page } = await openDashboard(first.name);
  const path: Focused[] = [];
  for (let i = 0; i < 19; i++) {
    await page.keyboard.press('Tab');
    path.push(await focused(page));
  }
  expect(path.map(({ name }) => name)).toEqual([
    'Skip to content',
    'Environment',
    'Webhook origin',
    'Verify a webhook',
    'Delete a user group',
    'Copy the address',
    'Allow-list for',
    'Your port',
    'Copy the allow-list',
    'Headers',
    'Body',
    'Secret',
    'Verify',
    'Clear',
    'User group id',
    'Access token',
    'User action signature',
    'Delete…',
    expect.any(String),
  ]);
  expect(path.slice(0, 18).filter(({ visible }) => !visible)).toEqual([]);
});

it('the navigation can be skipped', async () => {
  const { page } = await openDashboard(first.name);
  await tab(page);
  await page.keyboard.press('Enter');
  expect(await tab(page)).toBe('Copy the address');
});

it('a user group is deleted without a mouse', async () => {
  const { userGroupId, token, action } = await credentials(first.name, await seed(first.name));
  const { page } = await openDashboard(first.name);

  expect(await tab(page, 15)).toBe('User group id');
  await page.keyboard.insertText(userGroupId);
  await tab(page);
  await page.keyboard.insertText(token);
  await tab(page);
  await page.keyboard.insertText(action);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Delete this user group?' }).waitFor();
  expect(await focused(page)).toEqual({ name: 'Keep it', visible: true });
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect((await focused(page)).name).toBe('User action signature');

  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  expect(await tab(page)).toBe('Delete the user group');
  await page.keyboard.press('Enter');
  expect(await textOf(page.locator('#delete-result h3'))).toBe('The user group is deleted');
  expect((await focused(page)).name).toBe('Delete…');
});
