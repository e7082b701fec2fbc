import { format } from '../../../web/format.ts'

/** What users read on the pages of this feature, by code, as in `src/web/texts.ts`. */
export const texts = {
  title: 'Widgets',
  /** The outcome of *Test this connection*. `total`: null if the platform does not report it. */
  tested: (total: number | null) =>
    total === null ? 'Works: widgets can be read.' : `Works: ${format.pluralize(total, 'widget')} found.`,
  // template: call
  notFound: 'There is no such widget in this account.',
  // end of template
  openInNewTab: 'Open the widgets in a new tab',
  none: 'No widgets.',

  name: 'Name',
  status: 'Status',
  createdAt: 'Created',
  notes: 'Notes',
  id: 'ID',
  // template: write

  newWidget: 'New widget',
  create: 'Create widget',
  created: 'The widget was created.',
  rules: {
    name: 'enter a name',
    unknownField: 'is not a field of a widget',
  },
  // end of template
}
