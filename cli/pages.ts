/** All items of all pages of an SDK's paginator. */
export async function collect<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[] | undefined,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const page of pages) found.push(...(itemsOf(page) ?? []));
  return found;
}
