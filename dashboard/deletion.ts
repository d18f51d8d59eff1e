/** What a person typed in. */
export interface Deletion {
  readonly userGroupId: string;
  readonly accessToken: string;
  readonly userAction: string;
}

/** How a deletion ended, as far as this page knows. */
export type DeletionOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** As it came. */
      readonly body: string;
      /** Seconds. */
      readonly retryAfter: string | undefined;
    }
  | { readonly kind: 'unanswered'; readonly reason: 'time' | 'connection' };

/** Milliseconds: the gateway gives up after 29 s. */
const patience = 35_000;

const userGroupIdPattern = /^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$/;

/** Characters of a token; whatever else is in a field was pasted by mistake. Whether it is a good one, the API says. */
const tokenPattern = /^[\w.~+/=-]+$/;

export const pathOf = (userGroupId: string) => `/auth/user-groups/${userGroupId}`;

/** What keeps a deletion from being sent, by field. */
export function problemsOf({
  userGroupId,
  accessToken,
  userAction,
}: Deletion): Partial<Record<keyof Deletion, string>> {
  return {
    ...(!userGroupIdPattern.test(userGroupId) && {
      userGroupId:
        userGroupId === ''
          ? 'Give the id of the user group.'
          : 'This is no id of a user group: ug-, then 5, 5 and 14 to 16 lowercase letters and digits.',
    }),
    ...problemOfToken('accessToken', accessToken, 'Paste an access token.'),
    ...problemOfToken('userAction', userAction, 'Paste a user action signature for this very deletion.'),
  };
}

function problemOfToken(field: keyof Deletion, text: string, missing: string) {
  if (tokenPattern.test(text)) return {};
  return {
    [field]: text === '' ? missing : 'This has characters that no token has. Was more copied than the token?',
  };
}

/** Asks the API for the deletion, once: whether to try again is for the person to say. */
export async function requestDeletion(apiBaseUrl: string, deletion: Deletion): Promise<DeletionOutcome> {
  const signal = AbortSignal.timeout(patience);
  try {
    const response = await fetch(`${apiBaseUrl}${pathOf(deletion.userGroupId)}`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${deletion.accessToken}`, 'X-SVC-USERACTION': deletion.userAction },
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal,
    });
    return {
      kind: 'answered',
      status: response.status,
      body: await response.text(),
      retryAfter: response.headers.get('Retry-After') ?? undefined,
    };
  } catch {
    return { kind: 'unanswered', reason: signal.aborted ? 'time' : 'connection' };
  }
}
