import { type AllowListFormat, json } from './allow-list';

/**
 * Terraform's JSON syntax, which ignores the key `//`. A local value and an output suit every provider and need none.
 * Source: https://developer.hashicorp.com/terraform/language/syntax/json
 */
export const terraform: AllowListFormat = {
  title: 'Terraform (JSON syntax)',
  use: 'save it as a file that ends in .tf.json, and use the local value, or the module output, in your rules.',
  hasHeader: true,
  render: ({ header, entries, description, name }) => {
    const local = `${name.replaceAll('-', '_')}_cidrs`;
    return json({
      '//': header.join(' '),
      locals: { [local]: entries.map(({ cidr }) => cidr) },
      output: {
        [local]: {
          description: `Wallet webhooks come from here: ${description}`,
          value: `\${local.${local}}`,
        },
      },
    });
  },
};
