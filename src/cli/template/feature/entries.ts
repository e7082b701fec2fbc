import * as z from 'zod'
import type { Api, Page, PageOf, TokenSource } from '../../../connect/index.ts'
import { type Entry, entrySchema, PATHS, SCOPE } from './contract.ts'
import { texts } from './texts.ts'
// template: write
import { type NewEntry, newEntrySchema } from './contract.ts'
// end of template

/** The spare parts of an account. Every method also throws the errors documented on `createApi`. */
export interface Entries {
  /** Returns a page of them. */
  list(source: TokenSource, page?: Page): Promise<PageOf<Entry>>
  /** Returns one. Throws `NotFoundError`. */
  get(source: TokenSource, id: string): Promise<Entry>
  // template: write
  /** Creates one; resolves to the platform's copy. Throws a `ZodError`, before any call, if it is invalid. */
  create(source: TokenSource, entry: NewEntry): Promise<Entry>
  // end of template
}

export function createEntries(api: Api): Entries {
  const common = { scope: SCOPE, notFound: texts.notFound }
  return {
    list: (source, page = {}) =>
      api.list(source, { scope: SCOPE, path: PATHS.list, schema: z.array(entrySchema) }, page),
    get: (source, id) => api.get(source, { ...common, path: PATHS.entry(id), schema: entrySchema }),
    // template: write
    create: async (source, entry) =>
      api.post(source, { ...common, path: PATHS.list, schema: entrySchema }, newEntrySchema.parse(entry)),
    // end of template
  }
}
