/** What users read on the pages of this feature, by code, as in `src/web/texts.ts`. */
export const texts = {
  title: 'Spare parts',
  /** What the permission is for; begins with "to". */
  reason: 'to show the spare parts of the business, and to create new ones',
  /** The outcome of *Test this connection*. `total`: null if the platform does not report it. */
  tested: (total: number | null) =>
    total === null ? 'Works: spare parts can be read.' : `Works. Spare parts found: ${total}.`,
  notFound: 'No spare parts of this account have this id.',
  none: 'No spare parts.',
  /** The values of `status` that the list can be narrowed to, which are assumed, and what people call them. */
  statuses: { New: 'New', 'In progress': 'In progress', Done: 'Done' },
  newestFirst: 'Newest first',
  byName: 'By name',

  name: 'Name',
  status: 'Status',
  createdAt: 'Created',
  notes: 'Notes',
  id: 'ID',
  // template: write

  openInNewTab: 'Open the spare parts in a new tab',
  newEntry: 'New entry',
  create: 'Create',
  created: 'The entry was created.',
  rules: {
    name: 'enter a name',
    unknownField: 'is not a known field',
  },
  // end of template
}
