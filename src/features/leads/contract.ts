/** The platform's leads API: given and assumed, as in `connect/platform/contract.ts`. */
import * as z from 'zod'
import { type Assumption, idSchema, platform } from '../../connect/index.ts'
import { textField, webTexts } from '../../web/feature-api.ts'
import { texts } from './texts.ts'

/** The scope of leads. */
export const LEADS_SCOPE = platform.scopes.leads

/** Why this feature needs the scope. */
export const SCOPES = { [LEADS_SCOPE]: texts.reason }

/** Paths below `{base_url}`: assumed. */
export const PATHS = {
  leads: '/leads',
  lead: (id: string) => `/leads/${encodeURIComponent(id)}`,
} as const

/** assumed. */
const leadFields = {
  id: idSchema,
  name: z.string().nullish(),
  email: z.string().nullish(),
  phone: z.string().nullish(),
  suburb: z.string().nullish(),
  projectType: z.string().nullish(),
  status: z.string().nullish(),
  notes: z.string().nullish(),
  createdAt: z.string().nullish(),
}
export type Lead = z.infer<z.ZodObject<typeof leadFields>>
/** Keeps unknown fields, but its type has only those above, so that the compiler finds a misspelt field. */
export const leadSchema: z.ZodType<Lead> = z.looseObject(leadFields)

const common = { scope: LEADS_SCOPE, schema: leadSchema }
/** The data that each call of the API client reads or creates. */
export const CALLS = {
  list: { ...common, path: PATHS.leads, schema: z.array(leadSchema) },
  lead: (id: string) => ({ ...common, path: PATHS.lead(id), notFound: texts.notFound }),
  create: { ...common, path: PATHS.leads },
} as const

/** assumed: the body that creates a lead. */
export const newLeadSchema = z.strictObject(
  {
    name: textField(200).min(1, texts.rules.name),
    email: z.email(texts.rules.email).max(254, webTexts.rules.tooLong(254)).optional(),
    phone: textField(40).optional(),
    suburb: textField(100).optional(),
    projectType: textField(100).optional(),
    notes: textField(2000).optional(),
  },
  texts.rules.unknownField,
)

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'leads-operations',
    topic: 'Reading leads',
    assumed: '`GET /leads`, `GET /leads/{id}`, with the scope `leads`.',
    importance: 1,
    code: 'PATHS',
    cure: 'Change the paths.',
  },
  {
    id: 'lead',
    topic: 'A lead',
    assumed:
      '`id`, and optionally `name`, `email`, `phone`, `suburb`, `projectType`, `status`, `notes`, `createdAt`. A filter offers the statuses `New`, `Contacted`, `Site visit booked`, `Quoted`, `Won` and `Lost`.',
    importance: 2,
    code: 'leadSchema',
    cure: 'Rename the fields in the schema and in `views/leads`; remove those that do not exist. Change `statuses` in `texts.ts`.',
  },
  {
    id: 'new-lead',
    topic: 'Creating a lead',
    assumed: '`POST /leads` with the fields of a lead; the response is the lead.',
    importance: 2,
    code: 'newLeadSchema',
    cure: 'Change the schema to the fields that the platform accepts.',
  },
]
