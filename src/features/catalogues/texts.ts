import { format } from '../../web/feature-api.ts'

/** The texts on the pages of this feature, by code, as in `src/web/texts.ts`. */
export const texts = {
  title: 'Catalogues',
  /** The purpose of the permission; begins with "to". */
  reason: 'to show and create catalogues, and to grant builders access to them',
  notFound: 'There is no such catalogue in this business.',
  created: 'The catalogue was created.',
  /** The outcome of *Test this connection*. `total`: null if the platform does not report it. */
  tested: (total: number | null) =>
    total === null
      ? 'Works: catalogues can be read.'
      : `Works: ${format.pluralize(total, 'catalogue')} found.`,

  newCatalogue: 'New catalogue',
  name: 'Name',
  namePlaceholder: 'National RRP',
  visibility: 'Visibility',
  public: 'Public: every connected builder',
  managed: 'Managed: only builders with access',
  create: 'Create catalogue',
  latestFirst: 'Latest changes first',
  byName: 'By name',
  openInNewTab: 'Open the catalogues in a new tab',
  none: 'No catalogues.',

  scope: 'Visibility',
  scopes: { Public: 'Public', Managed: 'Managed' } as Record<string, string>,
  items: 'Items',
  updated: 'Updated',
  id: 'ID',

  grant: {
    title: 'Grant access to a builder',
    unknownScope: 'If this is a Managed catalogue, only builders with access can see it.',
    public:
      'Every connected builder can see this Public catalogue. You only need to grant access to approve a builder in advance.',
    managed: 'Only builders with access can see this catalogue.',
    account: 'Your account number for this builder',
    accountRule: '1 to 255 letters and digits',
    preApproved: "Accept this builder's connection request automatically",
    submit: 'Grant access',
    granted: (account: string) =>
      `Access was granted to account number ${account}: the builder with this number sees the catalogue once connected.`,
    grantedPreApproved: (account: string) =>
      `Access was granted to account number ${account}: the builder with this number sees the catalogue once connected, and their connection request will be accepted automatically.`,
  },

  /** The table of grants. */
  grants: {
    caption: 'Access granted here',
    account: 'Account',
    request: 'Request to connect',
    acceptedAutomatically: 'accepted automatically',
    decidedByYou: 'decided by you',
    by: 'Granted by',
    when: 'When',
  },

  rules: {
    name: 'enter a name',
    scope: 'choose Public or Managed',
    text: 'must be text',
    externalRef: 'must be 1 to 255 letters and digits',
    isPreApproved: 'must be true or false',
  },
}
