/** The platform's widgets API: given and assumed, as in `connect/platform/contract.ts`. */
import * as z from 'zod'
import { type Assumption, idSchema } from '../../../connect/index.ts'
// template: write
import { textField } from '../../../connect/index.ts'
import { texts as webTexts } from '../../../web/texts.ts'
import { texts } from './texts.ts'
// end of template

/** Assumed: the specification does not say it. */
export const WIDGETS_SCOPE = 'widgets'

/** What this feature needs the scope for. */
export const SCOPES = { [WIDGETS_SCOPE]: 'to show the widgets of the business' }

/** Paths below `{base_url}`. Assumed: the specification does not say them. */
export const PATHS = {
  widgets: '/widgets',
  widget: (id: string) => `/widgets/${encodeURIComponent(id)}`,
} as const

/** Assumed: the specification does not say it. */
export const widgetSchema = z.looseObject({
  id: idSchema,
  name: z.string().nullish(),
  status: z.string().nullish(),
  notes: z.string().nullish(),
  createdAt: z.string().nullish(),
})
export type Widget = z.infer<typeof widgetSchema>

// template: write
/** assumed: the body that creates a widget. */
export const newWidgetSchema = z.strictObject(
  {
    name: textField(200, webTexts.rules).min(1, texts.rules.name),
    notes: textField(2000, webTexts.rules).optional(),
  },
  texts.rules.unknownField,
)
export type NewWidget = z.infer<typeof newWidgetSchema>

// end of template
export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'widgets-operations',
    topic: 'Reading widgets',
    assumed: '`GET /widgets`, `GET /widgets/{id}`, with the scope `widgets`.',
    importance: 1,
    code: 'PATHS',
    cure: 'Change the paths.',
  },
  {
    id: 'widget',
    topic: 'A widget',
    assumed: '`id`, and optionally `name`, `status`, `notes`, `createdAt`.',
    importance: 2,
    code: 'widgetSchema',
    cure: 'Rename the fields in the schema and in `views/widgets`; remove those that do not exist.',
  },
  // template: write
  {
    id: 'new-widget',
    topic: 'Creating a widget',
    assumed: '`POST /widgets` with the fields of a widget; the response is the widget.',
    importance: 2,
    code: 'newWidgetSchema',
    cure: 'Change the schema to the fields that the platform accepts.',
  },
  // end of template
]
