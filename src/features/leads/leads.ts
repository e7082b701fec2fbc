import * as z from 'zod'
import type { Api, Page, PageOf, TokenSource } from '../../connect/index.ts'
import { LEADS_SCOPE, type Lead, leadSchema, type NewLead, newLeadSchema, PATHS } from './contract.ts'
import { texts } from './texts.ts'

export interface Leads {
  /** Returns a page of the account's leads. */
  list(source: TokenSource, page?: Page): Promise<PageOf<Lead>>
  /** Returns a lead. Throws `NotFoundError`. */
  get(source: TokenSource, id: string): Promise<Lead>
  /** Creates a lead and resolves to the platform's copy. Throws a `ZodError`, before any call, if it is invalid. */
  create(source: TokenSource, lead: NewLead): Promise<Lead>
}

const leadCall = { scope: LEADS_SCOPE, notFound: texts.notFound, schema: leadSchema }
const listCall = { scope: LEADS_SCOPE, path: PATHS.leads, schema: z.array(leadSchema) }

/** The leads API. Every method also throws the errors documented on `createApi`. */
export function createLeads(api: Api): Leads {
  return {
    list: (source, page = {}) => api.list(source, listCall, page),
    get: (source, id) => api.get(source, { ...leadCall, path: PATHS.lead(id) }),
    create: async (source, lead) =>
      api.post(source, { ...leadCall, path: PATHS.leads }, newLeadSchema.parse(lead)),
  }
}
