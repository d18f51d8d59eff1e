import { announce } from './dom';

/** Milliseconds: as long as a user action signature is good. */
const kept = 5 * 60_000;

/** Clears fields that hold secrets: five minutes after something was last typed into one of them, and with the page. */
export function forgetSecrets(form: HTMLFormElement, fields: readonly HTMLInputElement[]): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const clear = () => {
    const held = fields.filter(({ value }) => value !== '');
    for (const field of held) field.value = '';
    if (held.length > 0)
      announce('What was secret has been cleared: nothing was done with it for five minutes.');
  };
  for (const field of fields)
    field.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(clear, kept);
    });
  // A page that is gone back to has its fields again: this one not.
  addEventListener('pagehide', () => form.reset());
}
