/** The function takes the keys' ARNs from its event and needs no variable of its own. */
export const variables = [] as const;
