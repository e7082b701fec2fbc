import * as z from 'zod'
import type { Api, Page, PageOf } from '../../connect/platform/api.ts'
import {
  type Lead,
  leadSchema,
  type NewLead,
  newLeadSchema,
  PATHS,
  SCOPES,
} from '../../connect/platform/contract.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'

export interface Leads {
  /** A page of the account's leads. */
  list(source: TokenSource, page?: Page): Promise<PageOf<Lead>>
  /** One lead by its id. Throws `NotFoundError`. */
  get(source: TokenSource, id: string): Promise<Lead>
  /** Creates a lead and resolves to it as the platform keeps it. Throws a `ZodError` for a bad lead, before any call. */
  create(source: TokenSource, lead: NewLead): Promise<Lead>
}

const one = { scope: SCOPES.leads, what: 'lead', schema: leadSchema }
const many = { scope: SCOPES.leads, schema: z.array(leadSchema) }

/** The leads API. Every method throws what `createApi` says. */
export function createLeads(api: Api): Leads {
  return {
    list: (source, page = {}) => api.list(source, { ...many, path: PATHS.leads }, page),
    get: (source, id) => api.get(source, { ...one, path: PATHS.lead(id) }),
    create: async (source, lead) =>
      api.post(source, { ...one, path: PATHS.leads }, newLeadSchema.parse(lead)),
  }
}
