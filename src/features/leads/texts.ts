import { format } from '../../web/feature-api.ts'

/** The texts on the pages of this feature, by code, as in `src/web/texts.ts`. */
export const texts = {
  title: 'Leads',
  /** The purpose of the permission; begins with "to". */
  reason: 'to show and create leads',
  notFound: 'There is no such lead in this business.',
  created: 'The lead was created.',
  /** The outcome of *Test this connection*. `total`: null if the platform does not report it. */
  tested: (total: number | null) =>
    total === null ? 'Works: leads can be read.' : `Works: ${format.pluralize(total, 'lead')} found.`,

  newLead: 'New lead',
  create: 'Create lead',
  /** The (assumed) values of `status` in the filter of the list, with their labels. */
  statuses: {
    New: 'New',
    Contacted: 'Contacted',
    'Site visit booked': 'Site visit booked',
    Quoted: 'Quoted',
    Won: 'Won',
    Lost: 'Lost',
  },
  newestFirst: 'Newest first',
  byName: 'By name',
  openInNewTab: 'Open the leads in a new tab',
  none: 'No leads.',

  name: 'Name',
  email: 'Email',
  phone: 'Phone',
  suburb: 'Suburb',
  project: 'Project',
  notes: 'Notes',
  status: 'Status',
  received: 'Received',
  id: 'ID',

  rules: {
    name: 'enter a name',
    email: 'enter a valid email address',
    unknownField: 'is not a field of a lead',
  },
}
