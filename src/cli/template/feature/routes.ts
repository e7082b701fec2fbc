import { type RequestHandler, Router } from 'express'
import { describeRoute } from '../../../connect/express.ts'
import type { Vault } from '../../../connect/index.ts'
import { connectionRef } from '../../../web/connections.ts'
import { READ_ERRORS } from '../../../web/openapi.ts'
import { pageOf, pageOfSchema, pageQuery, pager } from '../../../web/paging.ts'
import { sendPageOrJson } from '../../../web/respond.ts'
import { entrySchema } from './contract.ts'
import type { Entries } from './entries.ts'
import { texts } from './texts.ts'
// template: write
import * as z from 'zod'
import { rejectForm } from '../../../web/errors.ts'
import { sendResultOrRedirect } from '../../../web/respond.ts'
import { newEntrySchema } from './contract.ts'

/** The fields of a form or of JSON. An empty field counts as absent. */
const entryBody = z.preprocess(
  (fields) => Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== '')),
  newEntrySchema,
)
// end of template

export interface EntriesOptions {
  entries: Entries
  vault: Vault
}

/** Routes of the spare parts of a connection. */
export function entriesRoutes(options: EntriesOptions): Router {
  return (
    Router()
      .get(
        '/connections/:bxcontext/spare-parts',
        describeRoute({
          summary: 'A page of spare parts.',
          query: pageQuery,
          response: pageOfSchema(entrySchema),
          errors: READ_ERRORS,
        }),
        listHandler(options),
      )
      // template: write
      .post(
        '/connections/:bxcontext/spare-parts',
        describeRoute({
          summary: 'Creates one. Fields: `name` (required), `notes`. Answers `201` with what was created.',
          body: entryBody,
          status: 201,
          response: entrySchema,
          errors: [...READ_ERRORS, 'invalid_input', 'platform_rejected'],
        }),
        createHandler(options),
      )
      // end of template
      .get(
        '/connections/:bxcontext/spare-parts/:id',
        describeRoute({ summary: 'One of them.', response: entrySchema, errors: [...READ_ERRORS, 'not_found'] }),
        showHandler(options),
      )
  )
}

function listHandler({ entries, vault }: EntriesOptions): RequestHandler<{ bxcontext: string }> {
  return async (req, res) => {
    const ref = connectionRef(req)
    const page = pageOf(req)
    const { items, total } = await entries.list(vault.tokenSource(ref), page)
    sendPageOrJson(req, res, {
      view: 'spare-parts/list',
      title: texts.title,
      data: {
        bxcontext: ref.bxcontext,
        entries: items,
        pager: pager({ items, total }, page),
        entryTexts: texts,
      },
      json: { items, total },
    })
  }
}
// template: write

function createHandler({ entries, vault }: EntriesOptions): RequestHandler<{ bxcontext: string }> {
  return async (req, res) => {
    const ref = connectionRef(req)
    const location = `/connections/${encodeURIComponent(ref.bxcontext)}/spare-parts`
    try {
      const entry = await entries.create(vault.tokenSource(ref), entryBody.parse(req.body ?? {}))
      await sendResultOrRedirect(req, res, location, entry, { status: 201, notice: texts.created })
    } catch (error) {
      await rejectForm(req, res, error, async () => ({
        view: 'spare-parts/list',
        title: texts.title,
        data: { bxcontext: ref.bxcontext, entries: null, pager: null, entryTexts: texts },
      }))
    }
  }
}
// end of template

function showHandler({ entries, vault }: EntriesOptions): RequestHandler<{ bxcontext: string; id: string }> {
  return async (req, res) => {
    const ref = connectionRef(req)
    const entry = await entries.get(vault.tokenSource(ref), req.params.id)
    sendPageOrJson(req, res, {
      view: 'spare-parts/entry',
      title: entry.name || entry.id,
      data: { bxcontext: ref.bxcontext, entry, entryTexts: texts },
      json: entry,
    })
  }
}
