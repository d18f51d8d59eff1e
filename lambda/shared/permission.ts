/** The operation that a caller needs to delete a user group. Bound, not written into SQL: the Data API reads `:name` as a parameter. */
export const deleteUserGroups = 'Auth:UserGroups:Delete';
