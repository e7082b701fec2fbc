/** The platform's catalogues API: given and assumed, as in `connect/platform/contract.ts`. */
import * as z from 'zod'
import { type Assumption, idSchema, platform } from '../../connect/index.ts'
import { textField } from '../../web/feature-api.ts'
import { texts } from './texts.ts'

/** The scope of catalogues. assumed: it also covers all other paths below `/catalogues`. */
export const CATALOGUES_SCOPE = platform.scopes.catalogues

/** Why this feature needs the scope. */
export const SCOPES = { [CATALOGUES_SCOPE]: texts.reason }

const catalogue = (id: string) => `/catalogues/${encodeURIComponent(id)}`

/** Paths below `{base_url}`: given 4.4, unless marked. */
export const PATHS = {
  catalogues: '/catalogues',
  /** assumed. */
  catalogue,
  accessControls: (id: string) => `${catalogue(id)}/accesscontrols`,
} as const

/** assumed, except `scope` (given 2.5). */
const catalogueFields = {
  id: idSchema,
  name: z.string().nullish(),
  scope: z.string().nullish(),
  itemCount: z.number().nullish(),
  updatedAt: z.string().nullish(),
}
export type Catalogue = z.infer<z.ZodObject<typeof catalogueFields>>
/** Keeps unknown fields, but its type has only those above, so that the compiler finds a misspelt field. */
export const catalogueSchema: z.ZodType<Catalogue> = z.looseObject(catalogueFields)

/** given 2.5: the visibility of a catalogue. */
export const CATALOGUE_SCOPES = ['Public', 'Managed'] as const

/** assumed, except `scope` (given 2.5): the body that creates a catalogue. */
export const newCatalogueSchema = z.strictObject({
  name: textField(200).min(1, texts.rules.name),
  scope: z.enum(CATALOGUE_SCOPES, texts.rules.scope),
})
export type NewCatalogue = z.infer<typeof newCatalogueSchema>

/** given 2.5 and 8. */
export const externalRefSchema = z
  .string(texts.rules.text)
  .regex(/^[A-Za-z0-9]{1,255}$/, texts.rules.externalRef)

/** assumed, except the names (given 2.5): the body that grants a builder access to a catalogue. */
export const accessControlSchema = z.strictObject({
  externalRef: externalRefSchema,
  isPreApproved: z.boolean(texts.rules.isPreApproved),
})
export type AccessControl = z.infer<typeof accessControlSchema>

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'catalogues-operations',
    topic: 'Reading catalogues',
    assumed:
      '`GET /catalogues`, `GET /catalogues/{id}`; the scope `catalogues` also covers all else below `/catalogues`.',
    importance: 1,
    code: 'PATHS',
    cure: 'Change the paths.',
  },
  {
    id: 'catalogue',
    topic: 'A catalogue',
    assumed: '`id`, and optionally `name`, `scope`, `itemCount`, `updatedAt`.',
    importance: 2,
    code: 'catalogueSchema',
    cure: 'Rename the fields in the schema and in `views/catalogues`; remove those that do not exist.',
  },
  {
    id: 'new-catalogue',
    topic: 'Creating a catalogue',
    assumed: '`{name, scope}`; the response is the catalogue.',
    importance: 2,
    code: 'newCatalogueSchema',
    cure: 'Change the schema to the fields that the platform accepts.',
  },
  {
    id: 'access-control',
    topic: 'An access control',
    assumed: '`{externalRef, isPreApproved}`.',
    importance: 2,
    code: 'accessControlSchema',
    cure: 'Change the schema to the fields that the platform accepts.',
  },
]
