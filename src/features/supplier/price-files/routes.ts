import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Request, type Response, Router } from 'express'
import * as z from 'zod'
import type { Vault } from '../../../connect/index.ts'
import {
  connectionRef,
  type PageSection,
  rejectForm,
  sendResultOrRedirect,
  sendVersion,
  wantsJson,
} from '../../../web/kit.ts'
import type { Catalogues } from '../../catalogues/catalogues.ts'
import type { Catalogue } from '../../catalogues/contract.ts'
import { type CataloguePageOptions, cataloguePage } from '../../catalogues/page.ts'
import { draftSchema } from './choice.ts'
import { fileGone, ImportError, importNotFound } from './errors.ts'
import { filledIn, readDraft } from './form.ts'
import type { Outline } from './found.ts'
import { type Import, importPath } from './import.ts'
import type { Imports } from './imports.ts'
import { badgeOf, choosePage, comparePage, importView, listIn, progressPage, readingView } from './page.ts'
import { texts } from './texts.ts'
import { receiveUpload } from './upload.ts'

export interface ImportRoutesOptions extends CataloguePageOptions {
  imports: Imports
  catalogues: Catalogues
  vault: Vault
}

type ImportRequest = Request<{ id: string }>

const chooseSchema = z.object({ draft: draftSchema, goOn: z.boolean(), seen: z.string().optional() })
const sendSchema = z.object({
  seen: z.string(),
  leaveOut: z.preprocess(listIn, z.array(z.string())),
  /** A form's checkbox is "on" or absent. */
  confirm: z.preprocess((value) => value === true || value === 'on', z.boolean()),
})

/** The section of the catalogue page with its imports and the upload form. */
export const importSection = (imports: Imports): PageSection => ({
  page: 'catalogues/catalogue',
  view: 'supplier/price-files/section',
  async load(req) {
    const all = await imports.list(connectionRef(req))
    const jobs = all.filter(({ catalogueId }) => catalogueId === req.params.id)
    const views = jobs.map(importView)
    return {
      data: { imports: views, importBadges: jobs.map(badgeOf), importTexts: texts },
      json: { imports: views },
    }
  },
})

/** The import in the URL among those of the signed-in user. Throws `ImportError` (404). */
async function importIn({ stored }: Imports, req: ImportRequest): Promise<Import> {
  const { userId, bxcontext } = connectionRef(req)
  const job = await stored.get({ userId, id: req.params.id })
  if (job.bxcontext !== bxcontext) throw importNotFound()
  return job
}

/** Uploads a price file for a catalogue. */
export function uploadRoute(options: ImportRoutesOptions): Router {
  const { imports, catalogues, vault } = options
  return Router().post('/:id/imports', async (req, res) => {
    const ref = connectionRef(req)
    const { id } = req.params
    let catalogue: Catalogue = { id }
    try {
      catalogue = await catalogues.get(vault.tokenSource(ref), id)
      const job = await receiveUpload(req, (file, fileName) =>
        imports.upload(ref, { catalogue, fileName }, file),
      )
      await sendResultOrRedirect(req, res, importPath(job), importView(job), { status: 201 })
    } catch (error) {
      await rejectForm(req, res, error, async () => {
        const page = await cataloguePage(res, ref, catalogue, options)
        return { ...page, data: { ...page.data, uploadRejected: true } }
      })
    }
  })
}

/** Routes that show an import and its progress, say how its file is read, and send, stop and discard it. */
export function importRoutes(options: ImportRoutesOptions): Router {
  const { imports } = options
  const router = Router()
  router.get('/:id', async (req, res) => {
    const job = await importIn(imports, req)
    res.vary('Accept')
    if (wantsJson(req)) return sendJson(imports, job, res)
    const { view, title, data } = await pageOf(options, job, req.query.change !== undefined)
    res.page(view, { title, ...data })
  })
  router.get('/:id/live', async (req, res) => sendVersion(res, importView(await importIn(imports, req))))
  for (const action of actionsOf(options)) addAction(router, options, action)
  return router.get('/:id/:action', async (req, res) =>
    res.redirect(303, importPath(await importIn(imports, req))),
  )
}

/** Streams an import as JSON, with all items that can be sent, because there may be too many for the memory. */
async function sendJson(imports: Imports, job: Import, res: Response): Promise<void> {
  const reading = await imports.reading(job)
  const view = JSON.stringify({ ...importView(job), reading: reading && readingView(reading) })
  const items = job.state === 'ready' && reading?.found ? imports.stored.items(job) : null
  async function* chunks(): AsyncGenerator<string> {
    if (!items) return yield view
    yield `${view.slice(0, -1)},"items":[`
    let comma = ''
    for await (const item of items) {
      yield comma + JSON.stringify(item)
      comma = ','
    }
    yield ']}'
  }
  await pipeline(Readable.from(chunks()), res.type('json'))
}

/** The page of an import. `isChange`: page one. */
async function pageOf({ imports, vault }: ImportRoutesOptions, job: Import, isChange: boolean) {
  const reading = await imports.reading(job)
  if (job.state !== 'ready' || !reading) return progressPage(job, reading)
  return reading.found && !isChange
    ? comparePage(job, reading, reading.found)
    : choosePage(vault, job, reading)
}

/** What a user does with an import. */
interface Action {
  name: string
  /** The status of a successful answer; 200 by default. */
  status?: number
  /** Resolves to null if nothing was done, because the page was out of date. */
  run(job: Import, req: ImportRequest): Promise<Import | null>
  /** Where a browser goes after the action; to the page of the import by default. */
  pathOf?(job: Import): string
}

/** Whether a form comes from a page that showed another reading or state, such as an old tab. JSON need not name them. */
const isStale = ({ checkId, state }: Import, { body }: ImportRequest): boolean =>
  (body?.seen ?? checkId) !== checkId || (body?.state ?? state) !== state

/** Adds the route of an action. It answers with the import as it is then, or with its page and why the action was refused. */
function addAction(router: Router, options: ImportRoutesOptions, action: Action): void {
  const { name, run, status = 200, pathOf = importPath } = action
  router.post(`/:id/${name}`, async (req: ImportRequest, res: Response) => {
    const { imports } = options
    const before = await importIn(imports, req)
    try {
      const job = isStale(before, req) ? null : await run(before, req)
      if (job) return await sendResultOrRedirect(req, res, pathOf(job), importView(job), { status })
      if (wantsJson(req)) throw new ImportError(409, 'conflict', texts.errors.readOtherwise)
      const notice = name === 'send' ? texts.send.shownAgain : texts.errors.readOtherwise
      await sendResultOrRedirect(req, res, importPath(before), null, { notice, tone: 'wait' })
    } catch (error) {
      const page = async () => pageOf(options, await imports.stored.get(before), name === 'choice')
      await rejectForm(req, res, error, page)
    }
  })
}

function actionsOf({ imports, catalogues, vault }: ImportRoutesOptions): Action[] {
  // Actions that compare with what the catalogue received call this: only users who can see the catalogue may see what it received.
  const seesCatalogue = (job: Import) => catalogues.get(vault.tokenSource(job), job.catalogueId)
  return [
    {
      name: 'choice',
      async run(job, req) {
        const reading = await imports.reading(job)
        if (!reading) throw fileGone()
        const chosen = chosenIn(req, reading.outline)
        await seesCatalogue(job)
        return imports.choose(job, chosen)
      },
    },
    {
      name: 'send',
      status: 202,
      async run(job, req) {
        // Another tab has already sent the import.
        if (job.state !== 'ready' && !wantsJson(req)) return job
        const { seen, leaveOut, confirm } = sendSchema.parse(req.body ?? {})
        await seesCatalogue(job)
        return imports.send(job, { seen, leftOut: leaveOut, confirmed: confirm })
      },
    },
    {
      name: 'resume',
      status: 202,
      async run(job) {
        await seesCatalogue(job)
        return imports.resume(job)
      },
    },
    {
      name: 'stop',
      run: (job) => imports.stop(job),
    },
    {
      name: 'discard',
      run: (job) => imports.discard(job),
      pathOf: ({ bxcontext, catalogueId }) =>
        `/connections/${encodeURIComponent(bxcontext)}/catalogues/${encodeURIComponent(catalogueId)}`,
    },
  ]
}

/** What a request says about how to read the file: as JSON, or with the fields of page one. */
function chosenIn(req: ImportRequest, outline: Outline): z.infer<typeof chooseSchema> {
  if (req.is('json')) return chooseSchema.parse(req.body)
  const { do: pressed } = z.looseObject({ seen: z.string(), do: z.string() }).parse(req.body ?? {})
  const draft = readDraft(outline, filledIn(outline, req.body))
  // Nobody has seen the columns of another sheet or heading row yet, so page one is shown again.
  const isSeen = draft.sheet === outline.sheet && draft.headingsRow === outline.headingsRow
  return { goOn: pressed === 'continue' && isSeen, draft }
}
