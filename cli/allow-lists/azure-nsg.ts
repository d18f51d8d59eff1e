import { type AllowListFormat, json } from './allow-list';

/**
 * A template with the whole group. Azure's own last rule refuses everything else from the internet.
 * Source: https://learn.microsoft.com/azure/templates/microsoft.network/networksecuritygroups
 */
export const azureNsg: AllowListFormat = {
  title: 'Azure network security group (ARM template)',
  use: 'az deployment group create --resource-group GROUP --template-file FILE, then attach the group to the subnet. A group of the same name loses its other rules: see --name.',
  hasHeader: false,
  render: ({ entries, port, name }) =>
    json({
      $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
      contentVersion: '1.0.0.0',
      resources: [
        {
          type: 'Microsoft.Network/networkSecurityGroups',
          apiVersion: '2023-11-01',
          name,
          location: '[resourceGroup().location]',
          properties: {
            securityRules: entries.map(({ cidr, description }, index) => ({
              name: `${name}-${index + 1}`,
              properties: {
                description: `Wallet webhooks from ${description}`,
                access: 'Allow',
                direction: 'Inbound',
                // The first priority that Azure takes.
                priority: 100 + index,
                protocol: 'Tcp',
                sourceAddressPrefix: cidr,
                sourcePortRange: '*',
                destinationAddressPrefix: '*',
                destinationPortRange: String(port),
              },
            })),
          },
        },
      ],
    }),
};
