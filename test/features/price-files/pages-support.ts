import { expect, vi } from 'vitest'
import type { Check } from '../../../src/features/price-files/check-rows.ts'
import type { Import } from '../../../src/features/price-files/import.ts'
import type { importView } from '../../../src/features/price-files/routes.ts'
import { startAll } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'
import type { Visitor } from '../../support/visitor.ts'
import { type Answers, draftOf } from './read-support.ts'

/** The sandbox's supplier, who is signed in as Sam. */
export const SAM = { name: 'sam', bxcontext: 'summit-supplies', email: 'priya@summit.example' }
export const JSON_TYPE = { accept: 'application/json' }
/** Where the app keeps Sam's import of this id. */
export const keyOf = (id: string) => ({ kind: 'import', owner: 'sam', id })

const SOON = { timeout: 20_000, interval: 25 }

/** A price file of so many rows without a problem. */
export const rowsOf = (count: number) =>
  `code,name,price\n${Array.from({ length: count }, (_, row) => `C${row},Board ${row},${row + 1}`).join('\n')}\n`

/** An import as JSON, or the problem in its place. */
export type ImportJson = ReturnType<typeof importView> & {
  status: number
  code: string
  detail: string
  reading: Check
}

export interface UploadOptions {
  /** The catalogue's id; that of the catalogue `Fresh` by default. */
  to?: string
  by?: Visitor
  /** What a person confirms beside the suggestions; false: nothing is confirmed. */
  answers?: Answers | false
}

/** The app and the sandbox, and Sam, whose account is connected and has the catalogue `Fresh`. */
export async function startPages(env: Record<string, string> = {}) {
  const app = await startAll(env)
  const visitor = await connected(app, SAM)
  return { ...(await openPages(app, visitor)), app, close: app.close }
}

/** What a supplier does on the pages of an app, whose account has the catalogue `Fresh`. */
export async function openPages(app: { url: string }, visitor: Visitor) {
  const base = `${app.url}/connections/summit-supplies`
  const urlOf = (id: string) => `${base}/imports/${id}`
  const jobOf = async (id: string, by = visitor): Promise<ImportJson> =>
    (await by.get(urlOf(id), JSON_TYPE)).json()

  async function newCatalogue(name: string, scope = 'Public'): Promise<string> {
    const answer = await visitor.post(`${base}/catalogues`, { form: { name, scope }, ...JSON_TYPE })
    expect(answer.status).toBe(201)
    return answer.json().id
  }
  const fresh = await newCatalogue('Fresh')

  async function upload(
    content: string | Buffer,
    { to = fresh, by = visitor, answers = {} }: UploadOptions = {},
  ): Promise<{ status: number; json: ImportJson }> {
    const form = new FormData()
    form.set('file', new Blob([content as string]), 'my prices.csv')
    const answer = await fetch(importsOf(to), {
      method: 'POST',
      redirect: 'manual',
      body: form,
      headers: { cookie: cookieOf(by), ...JSON_TYPE },
    })
    const json = (await answer.json()) as ImportJson
    if (!json.id) return { status: answer.status, json }
    const found = await jobOf(json.id, by)
    const isOpen = !found.confirmed && answers !== false
    return { status: answer.status, json: isOpen ? await confirm(found, answers, by) : found }
  }

  /** Says how the file is to be read, and confirms the rows. Resolves to the import, or to the problem. */
  async function confirm(job: ImportJson, answers: Answers = {}, by = visitor): Promise<ImportJson> {
    const draft = draftOf(job.reading, answers)
    const post = async (json: object) =>
      (
        await by.post(`${urlOf(job.id)}/layout`, {
          text: JSON.stringify(json),
          headers: { 'content-type': 'application/json' },
          ...JSON_TYPE,
        })
      ).json()
    const said = await post({ draft })
    if (said.status >= 400) return said
    const { checkId } = await jobOf(job.id, by)
    const answer = await post({ draft, confirm: 'on', seen: checkId })
    return answer.status >= 400 ? answer : jobOf(job.id, by)
  }
  const importsOf = (catalogueId: string) => `${base}/catalogues/${catalogueId}/imports`
  const cookieOf = (by: Visitor) =>
    [...(by.cookies.get(new URL(app.url).host) ?? [])].map((pair) => pair.join('=')).join('; ')
  const waitForJob = (id: string, check: (job: ImportJson) => void): Promise<ImportJson> =>
    vi.waitFor(async () => {
      const job = await jobOf(id)
      check(job)
      return job
    }, SOON)

  return {
    visitor,
    fresh,
    newCatalogue,
    upload,
    confirm,
    jobOf,
    urlOf,
    importsOf,
    cookieOf,
    /** `POST` on an import: start, stop or discard. */
    act: (id: string, action: string, form: Record<string, string> = {}) =>
      visitor.post(`${urlOf(id)}/${action}`, { form, ...JSON_TYPE }),
    /** Resolves to the import when it is completed or has failed. */
    ended: (id: string) => waitForJob(id, ({ state }) => expect(['completed', 'failed']).toContain(state)),
    /** Resolves when the import waits for the platform. */
    waiting: (id: string, reason = /./) =>
      waitForJob(id, ({ progress }) => expect(progress?.waiting ?? '').toMatch(reason)),
    catalogueJson: async (catalogueId: string): Promise<{ imports: Import[] }> =>
      (await visitor.get(`${base}/catalogues/${catalogueId}`, JSON_TYPE)).json(),
  }
}

export type Pages = Awaited<ReturnType<typeof startPages>>
