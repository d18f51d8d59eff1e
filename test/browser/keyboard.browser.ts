import type { Page } from 'playwright-core';
import { first } from '../support/rows';
import { names, openDashboard, useDashboards } from './dashboard';

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

it('everything can be reached in the order in which it is read, and is seen to be', async () => {
  const { page } = await openDashboard(first.name);
  const due = [
    'Skip to content',
    'Environment',
    'Webhook origin',
    'Receive',
    'Verify',
    'Copy the base address',
    ...names.filter((name) => name !== first.name),
    'Copy the address',
    'Allow-list for',
    'Copy the allow-list',
    'Standard Webhooks',
    'Copy the example',
    'Headers',
    'Body',
    'Secret',
    'Verify',
    'Clear',
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
