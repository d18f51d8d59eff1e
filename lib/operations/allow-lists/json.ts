import { type AllowListFormat, json as text } from './allow-list';

export const json: AllowListFormat = {
  title: 'JSON',
  use: 'for a program to read.',
  hasHeader: false,
  render: ({ origins }) =>
    text(
      origins.map(({ environment, region, address, deprecation }) => ({
        environment,
        region,
        addresses: [`${address}/32`],
        deprecated: deprecation !== undefined,
        ...(deprecation && { deprecation }),
      })),
    ),
};
