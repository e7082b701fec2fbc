/** The platform's API for spare parts. The specification does not describe it: all of this is assumed. */
import * as z from 'zod'
import { type Assumption, idSchema } from '../../../../../connect/index.ts'
// template: write
import { textField } from '../../../../../web/kit.ts'
// end of template
import { texts } from './texts.ts'

export const SCOPE = 'spare_parts'

/** What this feature needs the scope for. */
export const SCOPES = { [SCOPE]: texts.reason }

/** Paths below `{base_url}`. */
export const PATHS = {
  list: '/spare/parts',
  entry: (id: string) => `/spare/parts/${encodeURIComponent(id)}`,
} as const

export const entrySchema = z.looseObject({
  id: idSchema,
  name: z.string().nullish(),
  status: z.string().nullish(),
  notes: z.string().nullish(),
  createdAt: z.string().nullish(),
})

const common = { scope: SCOPE, schema: entrySchema }
/** The calls of the API client. */
export const CALLS = {
  list: { ...common, path: PATHS.list, schema: z.array(entrySchema) },
  entry: (id: string) => ({ ...common, path: PATHS.entry(id), notFound: texts.notFound }),
  // template: write
  create: { ...common, path: PATHS.list },
  // end of template
}

// template: write
/** The body that creates one. */
export const newEntrySchema = z.strictObject(
  {
    name: textField(200).min(1, texts.rules.name),
    notes: textField(2000).optional(),
  },
  texts.rules.unknownField,
)

// end of template
export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'spare-parts-operations',
    topic: 'Reading spare parts',
    assumed: '`GET /spare/parts`, `GET /spare/parts/{id}`, with the scope `spare_parts`.',
    importance: 1,
    code: 'PATHS',
    cure: 'Change the paths.',
  },
  {
    id: 'spare-parts-fields',
    topic: 'Fields of spare parts',
    assumed: '`id`, and optionally `name`, `status`, `notes`, `createdAt`. A filter offers the statuses `New`, `In progress` and `Done`.',
    importance: 2,
    code: 'entrySchema',
    cure: 'Rename the fields in the schema and in `views/spare-parts`; remove those that do not exist. Change `statuses` in `texts.ts`.',
  },
  // template: write
  {
    id: 'spare-parts-create',
    topic: 'Creating spare parts',
    assumed: '`POST /spare/parts` with `name` and `notes`; the response has all fields.',
    importance: 2,
    code: 'newEntrySchema',
    cure: 'Change the schema to the fields that the platform accepts.',
  },
  // end of template
]
