/** Of everything that runs here without an environment. */
export const region = 'eu-central-1';
