import type { Page } from 'playwright-core';
import { first } from '../support/rows';
import { environment, names, openDashboard, openForm, textOf, useDashboards } from './dashboard';
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

async function tab(page: Page): Promise<string> {
  await page.keyboard.press('Tab');
  return (await focused(page)).name;
}

/** Presses Tab until an element of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 40; i++) if ((await tab(page)) === name) return;
  throw new Error(`${name} cannot be reached by Tab.`);
}

it('everything can be reached in the order in which it is read, and is seen to be', async () => {
  const { page } = await openDashboard(first.name);
  await openForm(page);
  const due = [
    'Skip to content',
    'Environment',
    'Webhook origin',
    'Receive',
    'Verify',
    'Delete a user group',
    'Copy the base address',
    ...names.filter((name) => name !== first.name),
    'Copy the address',
    'Allow-list for',
    'Your port',
    `${environment().outputs(first.name).ApiBaseUrl}/webhook-origins/nginx`,
    'Copy the allow-list',
    'Standard Webhooks',
    'Copy the example',
    'Headers',
    'Body',
    'Secret',
    'Verify',
    'Clear',
    'Open the form',
    'User group id',
    'Access token',
    'User action signature',
    'Delete…',
  ];
  await page.evaluate(
    'document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex")',
  );
  const path: Focused[] = [];
  for (const _ of due) {
    await page.keyboard.press('Tab');
    path.push(await focused(page));
  }
  expect(path.map(({ name }) => name)).toEqual(due);
  expect(path.filter(({ visible }) => !visible)).toEqual([]);
});

it('the navigation can be skipped', async () => {
  const { page } = await openDashboard(first.name);
  await tab(page);
  await page.keyboard.press('Enter');
  expect(await tab(page)).toBe('Copy the base address');
});

it('a user group is deleted without a mouse', async () => {
  const { userGroupId, token, action } = await credentials(first.name, await seed(first.name));
  const { page } = await openDashboard(first.name);

  await tabTo(page, 'Open the form');
  await page.keyboard.press('Enter');
  expect(await tab(page)).toBe('User group id');
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
