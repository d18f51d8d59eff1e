/**
 * `FACTS`: a JSON object about the environment, for the page. `OTHER_DASHBOARDS`: a JSON array of the dashboards of other
 * environments. `RESPONSE_HEADERS`: a JSON object with the response headers.
 */
export const variables = ['FACTS', 'OTHER_DASHBOARDS', 'RESPONSE_HEADERS'] as const;

/** The page's file, beside the function's code. */
export const pageFile = 'index.html';
