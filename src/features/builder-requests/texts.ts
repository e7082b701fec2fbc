/** What users read on the pages of this feature, by code, as in `src/web/texts.ts`. */
export const texts = {
  title: 'Builder requests',
  /** What the permission is for; begins with "to". */
  reason: 'to show the connection requests of builders, and to accept or reject them',
  notFound: 'There is no such builder request in this account.',
  /** A form was sent from a page that shows an older state of its request. */
  changed: {
    title: 'The request has changed',
    detail:
      'This request has changed since you opened the page, or somebody has answered it. Nothing was done.',
  },
  accepted: 'The builder is connected, and sees your Public catalogues. Managed ones need access.',
  rejected: 'The request was rejected.',

  updatedByWebhook: 'Updated in real time',
  updatedByPolling: 'Checked every few seconds',
  reloads: 'This page reloads every 15 seconds.',
  suppliers: 'Suppliers, where builders ask to connect',
  none: 'No pending requests. Requests from builders you approved in advance are accepted automatically.',

  unnamedBuilder: 'A builder',
  accountNumber: (account: string) => `Account ${account}`,
  contact: 'Contact',
  email: 'Email',
  phone: 'Phone',
  suburb: 'Suburb',
  requested: 'Requested',
  accept: 'Accept',
  reject: 'Reject',
  grantAccess: 'Grant access',
  askToReject: {
    title: (builder: string) => `Reject the request of ${builder}?`,
    lead: 'The builder is told so, and does not see your catalogues and prices. To connect later, the builder has to ask again.',
    cancel: 'Keep the request',
  },

  builder: 'Builder',
  account: 'Account',
  when: 'When',
  acceptedBuilders: {
    title: 'Accepted builders',
    access: 'Access granted here',
    /** Follows the names of Managed catalogues. */
    andPublic: 'and Public catalogues',
    onlyPublic: 'Public catalogues',
    acceptedBy: 'Accepted by',
    hint: 'Requests that were decided here, and the last 500 times you granted access here.',
    grant: 'Grant access to a Managed catalogue',
  },
  rejectedRequests: {
    title: 'Rejected requests',
    rejectedBy: 'Rejected by',
  },
  events: {
    title: 'Details: events received',
    event: 'Event',
    received: 'Received',
    unknown: 'unknown',
  },
}
