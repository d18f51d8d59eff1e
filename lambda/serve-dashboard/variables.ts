/** `FACTS`: a JSON object about the environment, for the page. `RESPONSE_HEADERS`: a JSON object with the response headers. */
export const variables = ['FACTS', 'RESPONSE_HEADERS'] as const;

/** The page's file, beside the function's code. */
export const pageFile = 'index.html';
