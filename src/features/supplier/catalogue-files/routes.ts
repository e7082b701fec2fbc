import { type Request, type Response, Router } from 'express'
import * as z from 'zod'
import type { ConnectionRef, Vault } from '../../../connect/index.ts'
import {
  connectionRef,
  type PageSection,
  rejectForm,
  sendPageOrJson,
  sendResultOrRedirect,
  sendVersion,
  wantsJson,
} from '../../../web/feature-api.ts'
import type { Catalogues } from '../../catalogues/catalogues.ts'
import type { Catalogue } from '../../catalogues/contract.ts'
import { type CataloguePageOptions, cataloguePage } from '../../catalogues/page.ts'
import { texts as catalogueTexts } from '../../catalogues/texts.ts'
import { conflict, ImportError, importNotFound } from './errors.ts'
import { type Import, isOf, resumed, stopped } from './import.ts'
import { texts } from './import-texts.ts'
import type { Records } from './records.ts'
import type { Sender } from './sender.ts'

interface Options extends CataloguePageOptions {
  records: Records
  sender: Sender
  catalogues: Catalogues
  vault: Vault
}

type ImportRequest = Request<{ id: string }>
type Action = (job: Import, req: ImportRequest) => Promise<Import>

/** The difference that the user has seen, and the checkbox of the form ("on" or absent). */
const sendSchema = z.object({ code: z.string(), confirm: z.literal([true, 'on']).optional() })
/** The id of the import on the page, to which the buttons apply. */
const idSchema = z.object({ id: z.string() })

const pathOf = (ref: ConnectionRef, catalogueId: string) =>
  `/connections/${encodeURIComponent(ref.bxcontext)}/catalogues/${encodeURIComponent(catalogueId)}`

/** An import for pages and JSON. */
const viewOf = ({ by: _, received: __, ...job }: Import) => job

/** The last file of a catalogue, if this connection has sent it. Other connections learn only that an import is under way. */
async function ownFile(records: Records, req: Request<{ id?: string }>): Promise<Import | null> {
  const job = await records.find(String(req.params.id))
  return job && isOf(connectionRef(req), job) ? job : null
}

/** The section of the catalogue page with the form and the last file. */
export const importSection = (records: Records): PageSection => ({
  page: 'catalogues/catalogue',
  view: 'supplier/catalogue-files/section',
  async load(req) {
    const job = await ownFile(records, req)
    const view = job && viewOf(job)
    return { data: { job: view, fileTexts: texts }, json: { import: view } }
  },
})

/** Routes that check a file for a catalogue, show the differences, send it, and show the progress. */
export function importRoutes(options: Options): Router {
  const { records } = options
  const router = Router()
  /** Users whose file this process is reading: at most one each, because its items are in memory. */
  const reading = new Set<string>()
  router.post('/:id/import', (req, res) => checkFile(req, res, options, reading))
  router.get('/:id/import', async (req, res) => {
    const job = await ownFile(records, req)
    // Only who can see the catalogue on the platform may see the items that it received. A running import needs no platform.
    if (job?.state === 'ready') await catalogueOf(req, options)
    if (job) return sendPageOrJson(req, res, await pageOf(records, req, job))
    if (wantsJson(req)) throw importNotFound()
    res.redirect(303, pathOf(connectionRef(req), req.params.id))
  })
  router.get('/:id/import/live', async (req, res) => sendVersion(res, await ownFile(records, req)))
  /** The platform refuses to send to a catalogue that the user can't see any more. */
  const actions: Record<string, Action> = {
    send(job, { body }) {
      const { code, confirm } = sendSchema.parse(body ?? {})
      return records.start(job, code, confirm !== undefined)
    },
    resume: (job, { body }) => records.change({ ...job, ...idSchema.parse(body ?? {}) }, resumed),
    stop: (job, { body }) => records.change({ ...job, ...idSchema.parse(body ?? {}) }, stopped),
  }
  for (const [name, action] of Object.entries(actions))
    router.post(`/:id/import/${name}`, (req, res) => act(req, res, options, action))
  // Redirects a user who reopens the address of a rejected form.
  return router.get('/:id/import/:action', (req, res) =>
    res.redirect(303, `${pathOf(connectionRef(req), req.params.id)}/import`),
  )
}

/** Throws `NotFoundError` if the user can't see the catalogue on the platform. */
const catalogueOf = (req: ImportRequest, { catalogues, vault }: Options): Promise<Catalogue> =>
  catalogues.get(vault.tokenSource(connectionRef(req)), req.params.id)

/** Responds to an action with the import, or with its page and the reason why the action was refused. */
async function act(req: ImportRequest, res: Response, options: Options, action: Action): Promise<void> {
  const { records, sender } = options
  const { id } = req.params
  try {
    const before = await ownFile(records, req)
    if (!before) throw importNotFound()
    const job = await action(before, req)
    void sender.send(id)
    const path = `${pathOf(connectionRef(req), id)}/import`
    await sendResultOrRedirect(req, res, path, viewOf(job), { status: 202 })
  } catch (error) {
    await rejectForm(req, res, error, async () => {
      const job = await ownFile(records, req)
      if (!job) throw error
      return pageOf(records, req, job)
    })
  }
}

/** The data for every page. */
const shared = ({ bxcontext }: ConnectionRef, { id, name }: Catalogue) => ({
  bxcontext,
  catalogue: { id, name: name ?? id },
  fileTexts: texts,
  catalogueTexts,
  styles: ['/assets/supplier/catalogue-files/catalogue-files.css'],
})

/**
 * The page of a file, which shows the progress or the differences. These were shown when the file was checked, because another import
 * would have replaced the file.
 */
async function pageOf(records: Records, req: ImportRequest, job: Import) {
  const difference = job.state === 'ready' ? await records.difference(job) : null
  const catalogue = { id: job.catalogueId, name: job.catalogueName }
  const data = { ...shared(connectionRef(req), catalogue), job: viewOf(job), difference }
  return {
    view: `supplier/catalogue-files/${difference ? 'checked' : 'import'}`,
    title: job.fileName,
    data: { ...data, asks: difference?.asks.map(texts.question) },
    json: { ...viewOf(job), difference },
  }
}

/** Checks an uploaded file. A browser gets the page of differences, the page of errors, or the catalogue page with the reason. */
async function checkFile(
  req: ImportRequest,
  res: Response,
  options: Options,
  reading: Set<string>,
): Promise<void> {
  const { records } = options
  const ref = connectionRef(req)
  let catalogue: Catalogue = { id: req.params.id }
  let fileName = ''
  try {
    catalogue = await catalogueOf(req, options)
    const { id, name } = catalogue
    // Imported only here, because most apps start without reading a file.
    const { receiveUpload } = await import('./upload.ts')
    const { readFile } = await import('./template.ts')
    const job = await receiveUpload(req, async (given, chunks) => {
      fileName = given
      const before = await records.find(id)
      if (before?.state === 'running') throw conflict(texts.errors.otherRunning)
      if (reading.has(ref.userId)) throw conflict(texts.errors.reading)
      reading.add(ref.userId)
      const items = await readFile(chunks).finally(() => reading.delete(ref.userId))
      return records.add({ catalogueId: id, catalogueName: name ?? id, fileName, by: ref }, items)
    })
    const { json } = await pageOf(records, req, job)
    await sendResultOrRedirect(req, res, `${pathOf(ref, id)}/import`, json, { status: 201 })
  } catch (error) {
    await rejectForm(req, res, error, async () => {
      if (error instanceof ImportError && error.problems) {
        const data = { ...shared(ref, catalogue), fileName, ...error.problems }
        return { view: 'supplier/catalogue-files/wrong', title: texts.titles.wrong_file, data }
      }
      const page = await cataloguePage(res, ref, catalogue, options)
      return { ...page, data: { ...page.data, uploadRejected: true } }
    })
  }
}
