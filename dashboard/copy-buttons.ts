import { announce, byId } from './dom';

/** Milliseconds for which a button says how it went. */
const shown = 2_000;

/** Has every button with `data-copy` copy the text of the element that it names. */
export function startCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    button.addEventListener('click', () => void copy(button));
  }
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const source = byId(button.dataset.copy ?? '', HTMLElement);
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    say(button, 'Copied');
  } catch {
    // Not allowed to: it is selected, for the keys that copy.
    getSelection()?.selectAllChildren(source);
    say(button, 'Selected');
  }
}

function say(button: HTMLButtonElement, text: string): void {
  announce(text);
  button.dataset.said = text;
  setTimeout(() => delete button.dataset.said, shown);
}
