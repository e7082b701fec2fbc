import { type Request, type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import { describeRoute, type RouteDescription } from '../../connect/express.ts'
import type { Vault } from '../../connect/index.ts'
import { shorten } from '../../tables/prices.ts'
import {
  connectionRef,
  type PageSection,
  rejectForm,
  type SendChanges,
  sendPageOrJson,
  sendResultOrRedirect,
  UPLOAD_MS,
  wantsJson,
} from '../../web/kit.ts'
import type { Catalogues } from '../catalogues/catalogues.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import { type CataloguePageOptions, cataloguePage } from '../catalogues/page.ts'
import { texts as catalogueTexts } from '../catalogues/texts.ts'
import type { Check } from './check-rows.ts'
import { ImportError, importNotFound } from './errors.ts'
import { readDraft } from './form.ts'
import { type Import, importPath, importSchema } from './import.ts'
import type { Imports } from './imports.ts'
import { draftSchema, USES } from './layout.ts'
import { audienceProblem, questionsOf } from './questions.ts'
import { reportOf } from './report.ts'
import type { Problem } from './rows.ts'
import { texts } from './texts.ts'
import { receiveUpload } from './upload.ts'

export interface ImportRoutesOptions extends CataloguePageOptions {
  imports: Imports
  catalogues: Catalogues
  vault: Vault
  sendChanges: SendChanges
}

/** How many problems the page shows; the report has more. */
const MAX_SHOWN = 100
/** How often an open page polls the job, in ms. */
const POLL_MS = 500

type JobParameters = { id: string }

const JOB_ERRORS = ['not_found', 'conflict']

/** An import as JSON. */
const importViewSchema = importSchema.omit({ userId: true })

/** The section of the catalogue page with its imports and the upload form. */
export const importSection = (imports: Imports): PageSection => ({
  page: 'catalogues/catalogue',
  view: 'price-files/section',
  async load(req) {
    const all = await imports.list(connectionRef(req))
    const jobs = all.filter(({ catalogueId }) => catalogueId === req.params.id)
    const views = jobs.map(importView)
    const waiting = all.filter(
      ({ state, draft, catalogueScope }) => state === 'ready' && audienceProblem(draft, catalogueScope),
    )
    return {
      data: { imports: views, importBadges: jobs.map(badgeOf), waitingImports: waiting, importTexts: texts },
      json: { imports: views },
    }
  },
})

/** Routes that show an import and its progress, confirm how its file is read, and start, stop and discard it. */
export const importRoutes = (options: ImportRoutesOptions): Router =>
  Router().use(pageRoutes(options), actionRoutes(options))

/** The import in the URL among those of the signed-in user. Throws `ImportError` (404). */
async function jobOf(imports: Imports, req: Request<JobParameters>): Promise<Import> {
  const { userId, bxcontext } = connectionRef(req)
  const job = await imports.get(userId, req.params.id)
  if (job.bxcontext !== bxcontext) throw importNotFound()
  return job
}

/** Uploads a price file for a catalogue. */
export function uploadRoute(options: ImportRoutesOptions): Router {
  const { imports, catalogues, vault } = options
  return Router().post(
    '/:id/imports',
    describeRoute({
      summary:
        'Uploads a price file as `multipart/form-data`, within 15 minutes. Reads it and sends nothing. Answers `201` with the import.',
      body: z.string(),
      bodyType: 'multipart/form-data',
      status: 201,
      response: importViewSchema,
      errors: [
        'not_connected',
        'payload_too_large',
        'upload_quota_exceeded',
        'storage_full',
        'file_unreadable',
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
    },
  )
}

/** The page of a job, its live updates, and its report. */
function pageRoutes(options: ImportRoutesOptions): Router {
  const { imports, sendChanges } = options
  return Router()
    .get(
      '/:id',
      describeRoute({ summary: 'The state of an import.', response: importViewSchema, errors: JOB_ERRORS }),
      jobHandler(options),
    )
    .get(
      '/:id/live',
      describeRoute({
        summary: 'Server-sent events.',
        response: z.string(),
        responseType: 'text/event-stream',
        errors: JOB_ERRORS,
      }),
      async (req, res) => {
        const { userId, id } = await jobOf(imports, req)
        const getSnapshot = async () => {
          const current = await imports.get(userId, id)
          return current.state === 'running' ? JSON.stringify(importView(current)) : null
        }
        sendChanges(req, res, { getSnapshot, everyMs: POLL_MS })
      },
    )
    .get(
      '/:id/report.csv',
      describeRoute({
        summary: 'The rows with problems.',
        response: z.string(),
        responseType: 'text/csv',
        errors: JOB_ERRORS,
      }),
      async (req, res) => {
        const job = await jobOf(imports, req)
        const check = await imports.reading(job)
        if (!check || job.invalidRows === 0) throw new ImportError(404, 'not_found', texts.errors.noReport)
        res
          .attachment(`${job.fileName.replace(/(-problems)?\.\w+$/, '')}-problems.csv`)
          .type('text/csv; charset=utf-8')
          .send(reportOf(job.draft, check.problems))
      },
    )
}

/** What a user does with an import. Each action answers with what it is then, and goes to its page unless `pathOf` says otherwise. */
function actionRoutes({ imports, catalogues, vault }: ImportRoutesOptions): Router {
  const router = Router()
  const action = (
    name: string,
    { errors = [], ...description }: Partial<RouteDescription> & { summary: string },
    run: (job: Import, req: Request<JobParameters>) => Promise<Import>,
    pathOf = (job: Import) => `${importPath(job)}${job.state === 'ready' ? '#next' : ''}`,
  ) =>
    router.post(
      `/:id/${name}`,
      describeRoute({ ...description, response: importViewSchema, errors: [...JOB_ERRORS, ...errors] }),
      async (req: Request<JobParameters>, res: Response) => {
        const job = await run(await jobOf(imports, req), req)
        await sendResultOrRedirect(req, res, pathOf(job), importView(job), {
          status: description.status ?? 200,
        })
      },
    )
  action(
    'layout',
    {
      summary:
        'Says how the file is to be read, and reads it again. As JSON: `{draft}` with `sheets`, `tax`, `currency` and `audience`, as the answer shows it. With `confirm` and the same draft, confirms it: the items can be sent, and so can those of the next file of this layout.',
      body: z.object({
        draft: draftSchema,
        confirm: z.literal('on').optional(),
        seen: z.string().optional(),
      }),
      errors: ['invalid_input'],
    },
    (job, req) => answer(imports, job, req),
  )
  const moveSchema = z.object({ catalogueId: z.string() })
  action(
    'move',
    {
      summary: 'Moves an import that has not been sent into another catalogue, with what has been answered.',
      body: moveSchema,
      errors: ['not_connected', 'invalid_input'],
    },
    async (job, { body }) => {
      const { catalogueId } = moveSchema.parse(body)
      return imports.move(job.userId, job.id, await catalogues.get(vault.tokenSource(job), catalogueId))
    },
  )
  action(
    'start',
    {
      summary: 'Sends the items, or the rest of them. Answers `202`.',
      status: 202,
      errors: ['invalid_input'],
    },
    async (job, req) => {
      // Another tab has sent it already.
      const isSent = job.state === 'completed' || job.state === 'running'
      return isSent && !wantsJson(req) ? job : imports.start(job.userId, job.id, seenIn(req))
    },
  )
  action(
    'stop',
    { summary: 'Stops sending: the state is then `stopped`. `start` resumes.' },
    ({ userId, id }) => imports.stop(userId, id),
  )
  action(
    'discard',
    {
      summary:
        'Deletes the file and the import here, and answers what it was. Items that the platform has accepted stay there.',
    },
    ({ userId, id }) => imports.discard(userId, id),
    ({ bxcontext, catalogueId }) =>
      `/connections/${encodeURIComponent(bxcontext)}/catalogues/${encodeURIComponent(catalogueId)}`,
  )
  return router
}

/** The check that a page has shown. */
const seenIn = ({ body }: Request<JobParameters>): string | undefined =>
  body?.seen === undefined ? undefined : String(body.seen)

/**
 * The answers of a person: its last button is "This is right". If the form says anything else than what was read, the file is
 * read again first.
 */
async function answer(imports: Imports, job: Import, req: Request<JobParameters>): Promise<Import> {
  const { userId, id } = job
  const check = await imports.reading(job)
  const draft = readDraft(req.body, job.draft, check?.outline.sheets ?? [])
  const isSeen = JSON.stringify(draft) === JSON.stringify(job.draft)
  return req.body?.confirm !== undefined && isSeen
    ? imports.confirm(userId, id, seenIn(req))
    : imports.answer(job, draft)
}

function jobHandler({ imports, vault }: ImportRoutesOptions): RequestHandler<JobParameters> {
  return async (req, res) => {
    const job = await jobOf(imports, req)
    const view = importView(job)
    const check = await imports.reading(job)
    const reading = check && { ...check, problems: check.problems.slice(0, MAX_SHOWN).map(shown) }
    const step = check && stepOf(job, check)
    if (job.endedAt !== null && !wantsJson(req)) await imports.markSeen(job.userId, job.id)
    sendPageOrJson(req, res, {
      view: 'price-files/import',
      title: job.fileName,
      data: {
        job: { ...view, ...badgeOf(job) },
        bxcontext: job.bxcontext,
        reading,
        listed: check?.problems.length ?? 0,
        step,
        uses: USES,
        isUnfinished: job.state === 'running',
        isRevoked: job.state === 'failed' && !wantsJson(req) && (await isRevoked(vault, job)),
        importTexts: texts,
        catalogueTexts,
      },
      json: { ...view, reading, step },
    })
  }
}

/** A problem as the page shows it; the report has its whole row. */
const shown = ({ cells, ...problem }: Problem): Problem => ({
  ...problem,
  cells: cells.slice(0, 8).map((cell) => shorten(cell, 60)),
})

/** What a person is asked next, and what they have answered. */
function stepOf({ draft, catalogueScope }: Import, { problem, outline }: Check) {
  const questions = questionsOf(draft, outline.sheets, catalogueScope)
  const open = questions.filter(({ answer }) => answer === undefined)
  return {
    problem,
    question: open[0] ?? null,
    left: open.length,
    answers: questions.filter(({ answer }) => answer !== undefined),
    audienceProblem: audienceProblem(draft, catalogueScope) ?? null,
  }
}

/** Whether the user must reconnect before items can be sent. */
async function isRevoked(vault: Vault, { userId, bxcontext }: Import): Promise<boolean> {
  const connection = await vault.find({ userId, bxcontext }).catch(() => null)
  return connection?.view.state === 'revoked'
}

const TONES: Record<Import['state'], string> = {
  ready: '',
  running: '',
  completed: 'connected',
  failed: 'revoked',
  stopped: 'degraded',
}

/** The label and CSS class of a job's badge. */
function badgeOf({ state, confirmed, validRows }: Import): { label: string; tone: string } {
  const { states } = texts
  if (state !== 'ready') return { label: states[state], tone: TONES[state] }
  if (!confirmed) return { label: states.needsInput, tone: '' }
  return validRows === 0
    ? { label: states.nothingToSend, tone: 'degraded' }
    : { label: states.ready, tone: '' }
}

/** An import for pages and JSON. */
export const importView = ({ userId: _, ...job }: Import) => job
