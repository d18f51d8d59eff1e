import { type AllowListFormat, json as text } from './allow-list';

export const json: AllowListFormat = {
  title: 'JSON',
  use: 'for a program to read.',
  hasHeader: false,
  render: ({ origins }) =>
    text(
      origins.map(({ environment, region, address, reserve, deprecation }) => ({
        environment,
        region,
        addresses: [`${address}/32`],
        ...(reserve && { reserve: [`${reserve}/32`] }),
        deprecated: deprecation !== undefined,
        ...(deprecation && { deprecation }),
      })),
    ),
};
