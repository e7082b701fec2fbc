import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type Request, Router } from 'express'
import type { Catalogue } from '../../connect/platform/contract.ts'
import type { Vault } from '../../connect/vault/vault.ts'
import { UPLOAD_MS } from '../../web/body-deadline.ts'
import { badInput, rejectForm } from '../../web/errors.ts'
import { live } from '../../web/live.ts'
import { done, respond } from '../../web/respond.ts'
import { requireUser } from '../../web/sign-in.ts'
import type { Catalogues } from '../catalogues/catalogues.ts'
import { type Columns, FIELDS, REQUIRED } from './columns.ts'
import { noSuchImport } from './errors.ts'
import type { Imports, JobView } from './import-service.ts'
import { uploadOf } from './upload.ts'

export interface ImportsOptions {
  imports: Imports
  catalogues: Catalogues
  vault: Vault
  stopping: AbortSignal
}

/** How long an upload waits for its check, in ms: most files are checked by then, and the next page shows it. */
const CHECK_MS = 1_500
const LOOK_MS = 500

/** Price files on their way into a catalogue: upload, columns and problems, the import as it goes, the report. */
export function importsRoutes({ imports, catalogues, vault, stopping }: ImportsOptions): Router {
  const at = '/connections/:context/imports/:id'
  const pathOf = ({ context, id }: JobView | { context: string; id: string }) =>
    `/connections/${encodeURIComponent(context)}/imports/${id}`

  /** The import that the address names, of the signed-in user. */
  async function named(req: Request<{ context: string; id: string }>) {
    const userId = requireUser(req)
    const job = await imports.get(userId, req.params.id)
    if (job.context !== req.params.context) throw noSuchImport()
    return { userId, job }
  }

  return Router()
    .post('/connections/:context/catalogues/:id/imports', async (req, res) => {
      const userId = requireUser(req)
      const { context, id } = req.params
      req.extendBodyDeadline(UPLOAD_MS)
      let catalogue: Catalogue = { id }
      try {
        catalogue = await catalogues.get(vault.tokenSource(userId, context), id)
        const job = await uploadOf(req, (file, fileName) =>
          imports.upload(userId, { context, catalogue, fileName }, file),
        )
        await imports.settled(job.id, CHECK_MS)
        const view = importView(await imports.get(userId, job.id))
        await done(req, res, pathOf(job), view, { status: 201 })
      } catch (error) {
        await rejectForm(req, res, error, async () => {
          const jobs = (await imports.list(userId, context)).filter((job) => job.catalogueId === id)
          return {
            view: 'catalogue',
            title: catalogue.name ?? String(catalogue.id),
            data: { context, catalogue, imports: jobs.map(importView), upload: true },
          }
        })
      }
    })
    .get(at, async (req, res) => {
      const { job } = await named(req)
      const data = {
        job: importView(job),
        context: job.context,
        fields: FIELDS,
        required: REQUIRED,
        working: isWorking(job),
      }
      respond(req, res, { view: 'import', title: job.fileName, data, json: data.job })
    })
    .get(`${at}/live`, async (req, res) => {
      const { userId, job } = await named(req)
      const look = async () => {
        const now = await imports.get(userId, job.id)
        return isWorking(now) ? JSON.stringify(importView(now)) : null
      }
      live(req, res, { look, everyMs: LOOK_MS, stopping })
    })
    .get(`${at}/report.csv`, async (req, res) => {
      const { userId, job } = await named(req)
      const path = await imports.report(userId, job.id)
      res.attachment(`${job.fileName.replace(/\.\w+$/, '')}-problems.csv`).type('text/csv; charset=utf-8')
      await pipeline(createReadStream(path), res)
    })
    .post(`${at}/columns`, async (req, res) => {
      const { userId, job } = await named(req)
      await imports.choose(userId, job.id, columnsOf(req.body, job.headings.length))
      await imports.settled(job.id, CHECK_MS)
      await done(req, res, pathOf(job), importView(await imports.get(userId, job.id)))
    })
    .post(`${at}/start`, async (req, res) => {
      const { userId, job } = await named(req)
      await imports.start(userId, job.id, { strict: req.body?.strict === 'on' || req.body?.strict === true })
      await done(req, res, pathOf(job), importView(await imports.get(userId, job.id)), { status: 202 })
    })
    .post(`${at}/stop`, async (req, res) => {
      const { userId, job } = await named(req)
      await imports.stop(userId, job.id)
      await done(req, res, pathOf(job), importView(await imports.get(userId, job.id)))
    })
    .post(`${at}/discard`, async (req, res) => {
      const userId = requireUser(req)
      const { context, id } = req.params
      // A job whose record cannot be read can be discarded all the same.
      const job = await named(req).then(
        (found) => found.job,
        (error: unknown) => {
          if ((error as { code?: unknown }).code === 'record_unreadable') return null
          throw error
        },
      )
      await imports.discard(userId, id)
      const catalogue = job ? `/${encodeURIComponent(job.catalogueId)}` : ''
      await done(req, res, `/connections/${encodeURIComponent(context)}/catalogues${catalogue}`, {
        discarded: id,
      })
    })
}

function isWorking({ state, interrupted }: JobView): boolean {
  return (state === 'checking' || state === 'running') && !interrupted
}

/** An import as pages and JSON show it: times are ISO 8601, `secondsLeft` an estimate or null. */
export function importView({ userId: _, createdAt, startedAt, endedAt, ...job }: JobView) {
  const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString())
  return {
    ...job,
    ...{ createdAt: iso(createdAt), startedAt: iso(startedAt), endedAt: iso(endedAt) },
    ...paceOf(job, startedAt, endedAt ?? Date.now()),
  }
}

/** How fast items go, and how long they will take. */
function paceOf(
  { progress, good, state }: Omit<JobView, 'createdAt' | 'startedAt' | 'endedAt' | 'userId'>,
  startedAt: number | null,
  until: number,
) {
  const seconds = startedAt === null ? 0 : (until - startedAt) / 1000
  const sent = progress?.sent ?? 0
  const itemsPerSecond = sent > 0 && seconds > 0.5 ? Math.round(sent / seconds) : null
  const sending = state === 'running' && progress?.phase === 'sending' && itemsPerSecond
  return { itemsPerSecond, secondsLeft: sending ? Math.ceil((good - sent) / itemsPerSecond) : null }
}

/** The columns of a form, counted from 0; an empty one means "none". Throws `invalid_input`. */
function columnsOf(body: unknown, width: number): Columns | undefined {
  const given = (body ?? {}) as Record<string, unknown>
  const columns: Columns = {}
  let any = false
  for (const field of FIELDS) {
    const value = given[field]
    if (value === undefined) continue
    any = true
    if (value === '' || value === null) continue
    const column = typeof value === 'number' ? value : Number(value)
    if (!Number.isInteger(column) || column < 0 || column >= width)
      throw badInput(field, 'choose one of the columns')
    columns[field] = column
  }
  return any ? columns : undefined
}
