export const checkNames = [
  'answers in a documented shape',
  'answers as expected where nothing is in trouble',
  'groups whole, or gone with everything, as the audit says',
  'user actions used at most once',
  'used user actions refused for a group made again',
  'webhooks signed and unchanged, under one webhook-id for all attempts',
  'accepted events delivered, none given up',
  'recoveries of deletions in time',
  'recoveries of deliveries in time',
] as const;

export type CheckName = (typeof checkNames)[number];
