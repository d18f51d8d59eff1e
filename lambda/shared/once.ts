/** Makes something at its first use, and gives the same thing from then on: what a first event may not need. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
