import { type Deletion, type DeletionOutcome, pathOf, problemsOf, requestDeletion } from './deletion';
import { byId, element, type Panel, showPanel } from './dom';
import type { DashboardFacts } from './facts';
import { forgetSecrets } from './secret-fields';

/** Deletes a user group, after it was asked for twice. */
export function startDeletion({ apiBaseUrl }: DashboardFacts): void {
  openWhenAskedFor(byId('delete-details', HTMLDetailsElement), '#delete');
  const form = byId('delete-form', HTMLFormElement);
  const fields = {
    userGroupId: byId('delete-id', HTMLInputElement),
    accessToken: byId('delete-token', HTMLInputElement),
    userAction: byId('delete-action', HTMLInputElement),
  };
  const button = form.querySelector('button') as HTMLButtonElement;
  const result = byId('delete-result', HTMLElement);

  const read = (): Deletion => ({
    userGroupId: fields.userGroupId.value.trim(),
    accessToken: fields.accessToken.value.trim().replace(/^Bearer\s+/i, ''),
    userAction: fields.userAction.value.trim(),
  });
  const showPath = () => {
    byId('delete-path', HTMLElement).textContent = `DELETE ${pathOf(read().userGroupId || '…')}`;
  };
  fields.userGroupId.addEventListener('input', showPath);
  showPath();

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const deletion = read();
    result.replaceChildren();
    if (showProblems(fields, problemsOf(deletion)) || !(await confirmed(deletion.userGroupId))) return;
    fields.accessToken.value = '';
    fields.userAction.value = '';
    button.disabled = true;
    result.replaceChildren(element('p', { class: 'hint' }, 'Waiting for the API…'));
    showPanel(result, panelOf(deletion, await requestDeletion(apiBaseUrl, deletion)));
    button.disabled = false;
    button.focus();
  });
  forgetSecrets(form, [fields.accessToken, fields.userAction]);
}

/** A form that is seldom needed is folded away, but not from who follows a link to it. */
function openWhenAskedFor(details: HTMLDetailsElement, hash: string): void {
  const open = () => {
    if (location.hash === hash) details.open = true;
  };
  addEventListener('hashchange', open);
  open();
}

/** @returns whether there are any; the first has the focus then */
function showProblems(
  fields: Readonly<Record<keyof Deletion, HTMLInputElement>>,
  problems: Partial<Record<keyof Deletion, string>>,
): boolean {
  for (const [name, field] of Object.entries(fields)) {
    const problem = problems[name as keyof Deletion];
    field.setAttribute('aria-invalid', String(problem !== undefined));
    byId(`${field.id}-problem`, HTMLElement).textContent = problem ?? '';
  }
  const first = Object.keys(problems)[0] as keyof Deletion | undefined;
  if (first) fields[first].focus();
  return first !== undefined;
}

/**
 * Asks in a dialog; closing it in any way but one means no. The focus goes back to where it was. The event `close` comes
 * a moment after the closing: one that finds the dialog open is about an earlier question.
 */
function confirmed(userGroupId: string): Promise<boolean> {
  const dialog = byId('confirm', HTMLDialogElement);
  byId('confirm-id', HTMLElement).textContent = userGroupId;
  return new Promise((answered) => {
    const answer = (yes: boolean) => {
      dialog.close();
      answered(yes);
    };
    byId('confirm-yes', HTMLButtonElement).onclick = () => answer(true);
    byId('confirm-no', HTMLButtonElement).onclick = () => answer(false);
    dialog.onclose = () => dialog.open || answered(false);
    dialog.showModal();
  });
}

function panelOf({ userGroupId }: Deletion, outcome: DeletionOutcome): Panel {
  if (outcome.kind === 'unanswered') {
    const reason =
      outcome.reason === 'time'
        ? 'It did not answer in time.'
        : 'It could not be reached, or its answer could not be read.';
    return {
      kind: 'bad',
      title: 'The API gave no answer',
      content: [element('p', {}, `${reason} The deletion may have been carried out all the same.`)],
    };
  }
  const { status, body, retryAfter } = outcome;
  const problem = readProblem(body);
  const answer = element('pre', {}, readable(body));
  if (status === 200) {
    return {
      kind: 'good',
      title: 'The user group is deleted',
      content: [element('p', {}, element('code', {}, userGroupId)), answer],
    };
  }
  return {
    kind: 'bad',
    title: `The API refuses: ${status} ${problem.code ?? ''}`.trim(),
    content: [
      ...(problem.detail ? [element('p', {}, problem.detail)] : []),
      ...(retryAfter
        ? [element('p', {}, `Try again in ${retryAfter} s, with a new user action signature.`)]
        : []),
      answer,
    ],
  };
}

function readProblem(body: string): { readonly code?: string; readonly detail?: string } {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return {};
  }
}

function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body || '(an empty answer)';
  }
}
