import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type Request, type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../connect/express.ts'
import type { Vault } from '../../connect/index.ts'
import { DECIMALS } from '../../tables/prices.ts'
import { UPLOAD_MS } from '../../web/body-deadline.ts'
import { connectionRef } from '../../web/connections.ts'
import { rejectForm } from '../../web/errors.ts'
import { sendPageOrJson, sendResultOrRedirect, wantsJson } from '../../web/respond.ts'
import type { PageSection } from '../../web/sections.ts'
import type { SendChanges } from '../../web/sse.ts'
import { requireUser } from '../../web/user.ts'
import type { Catalogues } from '../catalogues/catalogues.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import { type CataloguePageOptions, cataloguePage } from '../catalogues/page.ts'
import { texts as catalogueTexts } from '../catalogues/texts.ts'
import { readChoices } from './choices.ts'
import { FIELDS, REQUIRED } from './columns.ts'
import { importNotFound } from './errors.ts'
import { jobSchema, readAsOf } from './import-job.ts'
import type { ImportService, JobView } from './import-service.ts'
import { texts } from './texts.ts'
import { receiveUpload } from './upload.ts'

export interface ImportRoutesOptions extends CataloguePageOptions {
  imports: ImportService
  catalogues: Catalogues
  vault: Vault
  sendChanges: SendChanges
}

/** How long a request waits for the check, in ms. Most files are checked by then, so the next page shows the result. */
const CHECK_MS = 1_500
/** How often an open page polls the job, in ms. */
const POLL_MS = 500
const JOB_PATH = '/connections/:bxcontext/imports/:id'

/** The parameters of `JOB_PATH`. */
type JobParameters = { bxcontext: string; id: string }

const JOB_ERRORS = ['not_found', 'conflict', 'import_unreadable']

const timeSchema = z.iso.datetime().nullable()
/** An import as JSON. */
const importViewSchema = jobSchema.omit({ userId: true }).extend({
  createdAt: timeSchema,
  startedAt: timeSchema,
  endedAt: timeSchema,
  interrupted: z.boolean(),
  itemsPerSecond: z.number().nullable(),
  secondsLeft: z.number().nullable(),
})

/** How to read a file. `readChoices` checks the values, for the file that it is. */
const column = z.union([z.number(), z.string()]).nullish()
const columnsSchema = z.object({
  ...Object.fromEntries(FIELDS.map((field) => [field, column])),
  headingsLine: column,
  sheet: z.string().nullish(),
  decimal: z.enum([...DECIMALS, '']).nullish(),
  gst: column,
})

const pathOf = ({ bxcontext, id }: { bxcontext: string; id: string }) =>
  `/connections/${encodeURIComponent(bxcontext)}/imports/${id}`

/** The section of the catalogue page with its imports and the upload form. */
export const importSection = (imports: ImportService): PageSection => ({
  page: 'catalogues/catalogue',
  view: 'price-files/section',
  async load(req) {
    const { bxcontext, id } = req.params
    const all = await imports.list({ userId: requireUser(req), bxcontext: String(bxcontext) })
    const jobs = all.filter(({ catalogueId }) => catalogueId === id)
    const views = jobs.map(importView)
    return {
      data: { imports: views, importBadges: jobs.map(badgeOf), importTexts: texts },
      json: { imports: views },
    }
  },
})

/** Routes that upload a price file, choose its columns, start, stop and discard the import, and show its progress. */
export function importRoutes(options: ImportRoutesOptions): Router {
  const { imports } = options
  const jobOf = jobFinder(imports)
  return Router()
    .use(uploadRoute(options))
    .use(jobPages(options))
    .post(
      `${JOB_PATH}/columns`,
      describeRoute({
        summary:
          'Chooses how to read the file, and checks it again. Fields: for each field of an item, the number of a column, counted from 0; `headingsLine`, `sheet`, `decimal` (`point` or `comma`), `gst`. Without fields, everything is recognised.',
        body: columnsSchema,
        response: importViewSchema,
        errors: [...JOB_ERRORS, 'invalid_input'],
      }),
      async (req, res) => {
        const { userId, job } = await jobOf(req)
        if (req.body?.resume === 'on') await imports.checkAgain(userId, job.id)
        else await imports.choose(userId, job.id, readChoices(req.body, job))
        await imports.settled(job.id, CHECK_MS)
        await sendResultOrRedirect(req, res, pathOf(job), importView(await imports.get(userId, job.id)))
      },
    )
    .post(
      `${JOB_PATH}/start`,
      describeRoute({
        summary:
          'Sends the file. Field: `strict` (`true` sends nothing if any row has a problem). Answers `202`.',
        body: z.object({ strict: z.union([z.boolean(), z.literal('on')]).optional() }),
        status: 202,
        response: importViewSchema,
        errors: [...JOB_ERRORS, 'invalid_input'],
      }),
      startHandler(imports),
    )
    .post(
      `${JOB_PATH}/stop`,
      describeRoute({
        summary: 'Stops sending: the state is then `stopped`. `start` resumes.',
        response: importViewSchema,
        errors: JOB_ERRORS,
      }),
      async (req, res) => {
        const { userId, job } = await jobOf(req)
        await imports.stop(userId, job.id)
        await sendResultOrRedirect(req, res, pathOf(job), importView(await imports.get(userId, job.id)))
      },
    )
    .post(
      `${JOB_PATH}/discard`,
      describeRoute({
        summary: 'Deletes the file and the import here. Items that the platform has accepted stay there.',
        response: z.object({ discarded: z.string() }),
        errors: ['not_found'],
      }),
      discardHandler(imports),
    )
}

function startHandler(imports: ImportService): RequestHandler<JobParameters> {
  const jobOf = jobFinder(imports)
  return async (req, res) => {
    const { userId, job } = await jobOf(req)
    // Another tab has sent it already.
    const isSent = job.state === 'completed' || (job.state === 'running' && !job.interrupted)
    if (isSent && !wantsJson(req)) return res.redirect(303, pathOf(job))
    const strict = req.body?.strict === 'on' || req.body?.strict === true
    const { readAs } = req.body ?? {}
    await imports.start(userId, job.id, { strict, ...(typeof readAs === 'string' && { readAs }) })
    const view = importView(await imports.get(userId, job.id))
    await sendResultOrRedirect(req, res, pathOf(job), view, { status: 202 })
  }
}

function discardHandler(imports: ImportService): RequestHandler<JobParameters> {
  const jobOf = jobFinder(imports)
  return async (req, res) => {
    const { userId, bxcontext } = connectionRef(req)
    const { id } = req.params
    // Allow discarding a job whose record cannot be read.
    const job = await jobOf(req).then(
      ({ job }) => job,
      (error: unknown) => {
        if ((error as { code?: unknown }).code === 'import_unreadable') return null
        throw error
      },
    )
    await imports.discard(userId, id)
    const catalogue = job ? `/${encodeURIComponent(job.catalogueId)}` : ''
    const location = `/connections/${encodeURIComponent(bxcontext)}/catalogues${catalogue}`
    await sendResultOrRedirect(req, res, location, { discarded: id })
  }
}

/** Returns a function that finds the import in the URL among those of the signed-in user. */
function jobFinder(imports: ImportService) {
  return async (req: Request<JobParameters>) => {
    const { userId, bxcontext } = connectionRef(req)
    const job = await imports.get(userId, req.params.id)
    if (job.bxcontext !== bxcontext) throw importNotFound()
    return { userId, job }
  }
}

function uploadRoute(options: ImportRoutesOptions): Router {
  const { imports, catalogues, vault } = options
  return Router().post(
    '/connections/:bxcontext/catalogues/:id/imports',
    describeRoute({
      summary:
        'Uploads a price file as `multipart/form-data`, or as a body of type `text/csv`, `text/tab-separated-values` or that of XLSX, within 15 minutes. Checks it and sends nothing. `?corrects=` is the id of an import whose file or report of problems it is, with rows corrected: it is read as that import was. Answers `201` with the import.',
      body: z.string(),
      bodyType: 'text/csv',
      status: 201,
      response: importViewSchema,
      errors: [
        'not_connected',
        'payload_too_large',
        'upload_quota_exceeded',
        'storage_full',
        'unsupported_media_type',
        'conflict',
      ],
    }),
    async (req, res) => {
      const ref = connectionRef(req)
      const { id } = req.params
      req.extendBodyDeadline(UPLOAD_MS)
      let catalogue: Catalogue = { id }
      try {
        catalogue = await catalogues.get(vault.tokenSource(ref), id)
        const { corrects } = req.query
        const corrected = typeof corrects === 'string' ? await imports.get(ref.userId, corrects) : null
        const job = await receiveUpload(req, (file, fileName) =>
          imports.upload(ref, { catalogue, fileName, corrected }, file),
        )
        await imports.settled(job.id, CHECK_MS)
        const view = importView(await imports.get(ref.userId, job.id))
        await sendResultOrRedirect(req, res, pathOf(job), view, { status: 201 })
      } catch (error) {
        await rejectForm(req, res, error, async () => {
          const page = await cataloguePage(res, ref, catalogue, options)
          return { ...page, data: { ...page.data, uploadRejected: true } }
        })
      }
    },
  )
}

/** The page of a job, its live updates, and its report. */
function jobPages(options: ImportRoutesOptions): Router {
  const { imports, sendChanges } = options
  const jobOf = jobFinder(imports)
  return Router()
    .get(
      JOB_PATH,
      describeRoute({ summary: 'The state of an import.', response: importViewSchema, errors: JOB_ERRORS }),
      jobHandler(options),
    )
    .get(
      `${JOB_PATH}/live`,
      describeRoute({
        summary: 'Server-sent events.',
        response: z.string(),
        responseType: 'text/event-stream',
        errors: JOB_ERRORS,
      }),
      async (req, res) => {
        const { userId, job } = await jobOf(req)
        const getSnapshot = async () => {
          const current = await imports.get(userId, job.id)
          return isUnfinished(current) ? JSON.stringify(importView(current)) : null
        }
        sendChanges(req, res, { getSnapshot, everyMs: POLL_MS })
      },
    )
    .get(
      `${JOB_PATH}/report.csv`,
      describeRoute({
        summary: 'The rows with problems.',
        response: z.string(),
        responseType: 'text/csv',
        errors: JOB_ERRORS,
      }),
      async (req, res) => {
        const { userId, job } = await jobOf(req)
        const path = await imports.report(userId, job.id)
        res
          .attachment(`${job.fileName.replace(/(-problems)?\.\w+$/, '')}-problems.csv`)
          .type('text/csv; charset=utf-8')
        await pipeline(createReadStream(path), res)
      },
    )
}

function jobHandler({ imports, vault }: ImportRoutesOptions): RequestHandler<JobParameters> {
  const jobOf = jobFinder(imports)
  return async (req, res) => {
    const { userId, job } = await jobOf(req)
    const view = importView(job)
    if (job.endedAt !== null && !wantsJson(req)) await imports.markSeen(userId, job.id)
    sendPageOrJson(req, res, {
      view: 'price-files/import',
      title: job.fileName,
      data: {
        job: { ...view, ...badgeOf(job) },
        bxcontext: job.bxcontext,
        fields: FIELDS,
        required: REQUIRED,
        readAs: readAsOf(job),
        isUnfinished: isUnfinished(job),
        isRevoked: job.state === 'failed' && !wantsJson(req) && (await isRevoked(vault, job)),
        importTexts: texts,
        catalogueTexts,
      },
      json: view,
    })
  }
}

/** Whether the user must reconnect before items can be sent. */
async function isRevoked(vault: Vault, { userId, bxcontext }: JobView): Promise<boolean> {
  const connection = await vault.find({ userId, bxcontext }).catch(() => null)
  return connection?.view.state === 'revoked'
}

/** The label and CSS class of a job's badge. */
function badgeOf({ state, interrupted, mappingErrors, validRows }: JobView): { label: string; tone: string } {
  if (interrupted) return { label: texts.states.interrupted, tone: 'degraded' }
  if (state === 'ready' && mappingErrors.length === 0 && validRows === 0)
    return { label: texts.states.nothingToSend, tone: 'degraded' }
  if (state === 'ready')
    return { label: mappingErrors.length > 0 ? texts.states.needsInput : texts.states.ready, tone: '' }
  const tones: Partial<Record<JobView['state'], string>> = {
    completed: 'connected',
    failed: 'revoked',
    stopped: 'degraded',
    unreadable: 'revoked',
  }
  return { label: texts.states[state], tone: tones[state] ?? '' }
}

/** An interrupted job counts too: another process may take it over. */
export const isUnfinished = ({ state }: JobView): boolean => state === 'checking' || state === 'running'

/** Converts an import for pages and JSON: times are ISO 8601; `secondsLeft` is an estimate, or null. */
export function importView({ userId: _, createdAt, startedAt, endedAt, ...job }: JobView) {
  const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString())
  return {
    ...job,
    createdAt: iso(createdAt),
    startedAt: iso(startedAt),
    endedAt: iso(endedAt),
    ...estimateRate(job, startedAt, endedAt ?? Date.now()),
  }
}

/** Estimates the upload rate and the remaining time. */
function estimateRate(
  {
    progress,
    validRows,
    state,
    startedFrom,
  }: Omit<JobView, 'createdAt' | 'startedAt' | 'endedAt' | 'userId'>,
  startedAt: number | null,
  until: number,
) {
  const seconds = startedAt === null ? 0 : (until - startedAt) / 1000
  const sent = (progress?.sent ?? 0) - startedFrom
  const isMeasured = sent > 0 && seconds > 0.5 && !progress?.waiting
  const itemsPerSecond = isMeasured ? Math.round(sent / seconds) : null
  const sending = state === 'running' && progress?.phase === 'sending' && itemsPerSecond
  const left = validRows - (progress?.sent ?? 0)
  return { itemsPerSecond, secondsLeft: sending ? Math.ceil(left / itemsPerSecond) : null }
}
