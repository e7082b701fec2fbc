import * as z from 'zod'
import type { Api, Page, TokenSource } from '../../connect/index.ts'
import { LEADS_SCOPE, leadSchema, type NewLead, newLeadSchema, PATHS } from './contract.ts'
import { texts } from './texts.ts'

const leadCall = { scope: LEADS_SCOPE, notFound: texts.notFound, schema: leadSchema }
const listCall = { scope: LEADS_SCOPE, path: PATHS.leads, schema: z.array(leadSchema) }

export type Leads = ReturnType<typeof createLeads>

/** The leads API. Every method also throws the errors documented on `createApi`. */
export const createLeads = (api: Api) => ({
  /** Resolves to a page of the account's leads. */
  list: (source: TokenSource, page: Page = {}) => api.list(source, listCall, page),
  /** Throws `NotFoundError`. */
  get: (source: TokenSource, id: string) => api.get(source, { ...leadCall, path: PATHS.lead(id) }),
  /** Creates a lead and resolves to the platform's copy. Throws a `ZodError`, before any call, if it is invalid. */
  create: async (source: TokenSource, lead: NewLead) =>
    api.post(source, { ...leadCall, path: PATHS.leads }, newLeadSchema.parse(lead)),
})
