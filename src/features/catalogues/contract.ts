/** The platform's catalogues: given and assumed, as in `connect/platform/contract.ts`. */
import * as z from 'zod'
import { type Assumption, idSchema, textField } from '../../connect/platform/contract.ts'

/** given 5.3.3, as an example; assumed: also for imports, access controls and builder requests. */
export const CATALOGUES_SCOPE = 'catalogues'

const catalogue = (id: string) => `/catalogues/${encodeURIComponent(id)}`

/** Paths below `{base_url}`: given 4.4, apart from the one marked. */
export const PATHS = {
  catalogues: '/catalogues',
  /** assumed. */
  catalogue,
  accessControls: (id: string) => `${catalogue(id)}/accesscontrols`,
} as const

/** assumed, apart from `scope` (given 2.5). */
export const catalogueSchema = z.looseObject({
  id: idSchema,
  name: z.string().nullish(),
  scope: z.string().nullish(),
  itemCount: z.number().nullish(),
  updatedAt: z.string().nullish(),
})
export type Catalogue = z.infer<typeof catalogueSchema>

/** given 2.5: who sees a catalogue. */
export const CATALOGUE_SCOPES = ['Public', 'Managed'] as const

/** assumed, apart from `scope` (given 2.5): what creates a catalogue. */
export const newCatalogueSchema = z.strictObject({
  name: textField(200).min(1, 'must not be empty'),
  scope: z.enum(CATALOGUE_SCOPES, 'must be Public or Managed'),
})
export type NewCatalogue = z.infer<typeof newCatalogueSchema>

/** given 2.5 and 8. */
export const externalRefSchema = z
  .string('must be text')
  .regex(/^[A-Za-z0-9]{1,255}$/, 'must be 1 to 255 letters and digits, nothing else')

/** assumed, apart from the names (given 2.5): what grants a builder access to a catalogue. */
export const accessControlSchema = z.strictObject({
  externalRef: externalRefSchema,
  isPreApproved: z.boolean('must be true or false'),
})
export type AccessControl = z.infer<typeof accessControlSchema>

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'catalogues-operations',
    topic: 'Reading catalogues',
    assumed:
      '`GET /catalogues`, `GET /catalogues/{id}`; the scope `catalogues` also covers imports, access controls and builder requests.',
  },
  {
    id: 'catalogue',
    topic: 'The fields of a catalogue',
    assumed: '`id`, and if present `name`, `scope`, `itemCount`, `updatedAt`.',
  },
  {
    id: 'new-catalogue',
    topic: 'Creating a catalogue',
    assumed: '`{name, scope}`; the answer is the catalogue.',
  },
  {
    id: 'access-control',
    topic: 'An access control',
    assumed: '`{externalRef, isPreApproved}`.',
  },
]
