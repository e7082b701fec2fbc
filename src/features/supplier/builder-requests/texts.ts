import { format } from '../../../web/feature-api.ts'

/** The texts on the pages of this feature, by code, as in `src/web/texts.ts`. */
export const texts = {
  title: 'Builder requests',
  /** The purpose of the permission; begins with "to". */
  reason: 'to answer the connection requests of builders',
  notFound: 'There is no such builder request in this business.',
  /** A user answered on a page that shows an older state of the request. */
  changed: {
    title: 'The request has changed',
    detail:
      "This request has changed since you opened the page, or someone has answered it. Your answer wasn't sent.",
  },
  accepted: 'The builder is connected, and sees your Public catalogues. Managed catalogues need a grant.',
  rejected: 'The request was rejected.',

  updatedByWebhook: 'Updated in real time',
  updatedByPolling: 'Checked every few seconds',
  reloads: 'This page reloads every 15 seconds.',
  suppliers: 'Suppliers, where builders ask to connect',
  none: 'No pending requests. Requests from builders you approved in advance are accepted automatically.',

  unnamedBuilder: 'A builder',
  /** Screen readers read it out when a request arrives. */
  asks: (builder: string) => `${builder} asks to connect`,
  accountNumber: (account: string) => `Account ${format.isolated(account)}`,
  contact: 'Contact',
  email: 'Email',
  phone: 'Phone',
  suburb: 'Suburb',
  requested: 'Requested',
  accept: 'Accept',
  reject: 'Reject',
  grantAccess: 'Grant access',
  /** The questions before an answer. They also explain how to correct a wrong answer. */
  ask: {
    accept: {
      title: (builder: string) => `Accept the request of ${format.isolated(builder)}?`,
      lead: 'The builder will be connected, and see your Public catalogues and their prices. You can’t undo this here. To end the connection later, ask the platform’s support.',
    },
    reject: {
      title: (builder: string) => `Reject the request of ${format.isolated(builder)}?`,
      lead: 'The builder will see that you rejected the request, but not your catalogues and prices. You can’t undo this here. To connect later, the builder has to ask again.',
    },
    cancel: 'Decide later',
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
    hint: 'This list covers your last 500 decisions in this app, and your last 500 grants of access.',
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
