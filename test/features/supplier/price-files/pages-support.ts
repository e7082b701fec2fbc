import { expect, vi } from 'vitest'
import type { Item } from '../../../../src/features/supplier/price-files/batches.ts'
import type { Reading } from '../../../../src/features/supplier/price-files/found.ts'
import type { Import } from '../../../../src/features/supplier/price-files/import.ts'
import type { importView } from '../../../../src/features/supplier/price-files/page.ts'
import { startAll } from '../../../support/app.ts'
import { connected } from '../../../support/flow.ts'
import type { Visitor } from '../../../support/visitor.ts'
import { type Answers, draftOf } from './model/support.ts'
import { FAST } from './support.ts'

/** The sandbox's supplier, who is signed in as Sam. */
export const SAM = { name: 'sam', bxcontext: 'summit-supplies', email: 'priya@summit.example' }
export const JSON_TYPE = { accept: 'application/json' }

const SOON = { interval: 50 }

/** A price file of so many rows without a problem. */
export const rowsOf = (count: number) =>
  `code,name,price\n${Array.from({ length: count }, (_, row) => `C${row},Board ${row},${row + 1}`).join('\n')}\n`

/** An import as JSON, or the problem in its place. */
export type ImportJson = ReturnType<typeof importView> & {
  status: number
  code: string
  detail: string
  reading: Reading
  items: Item[]
}

export interface UploadOptions {
  /** The catalogue's id; that of the catalogue `Fresh` by default. */
  to?: string
  by?: Visitor
  /** What a person says on page one beside what is filled in; false: nothing. */
  says?: Answers | false
}

/** The app and the sandbox, and Sam, whose account is connected and has the catalogue `Fresh`. */
export async function startPages(env: Record<string, string> = {}) {
  const app = await startAll(env, { features: FAST })
  const visitor = await connected(app, SAM)
  return { ...(await openPages(app, visitor)), app, close: app.close }
}

/** What a supplier does on the pages of an app, whose account has the catalogue `Fresh`. */
export async function openPages(app: { url: string }, visitor: Visitor) {
  const base = `${app.url}/connections/summit-supplies`
  const urlOf = (id: string) => `${base}/imports/${id}`
  const importsOf = (catalogueId: string) => `${base}/catalogues/${catalogueId}/imports`
  const cookieOf = (by: Visitor) =>
    [...(by.cookies.get(new URL(app.url).host) ?? [])].map((pair) => pair.join('=')).join('; ')
  const jobOf = async (id: string, by = visitor): Promise<ImportJson> =>
    (await by.get(urlOf(id), JSON_TYPE)).json()
  /** `POST` on an import with JSON. */
  const post = (id: string, action: string, json: object, by = visitor) =>
    by.post(`${urlOf(id)}/${action}`, {
      text: JSON.stringify(json),
      headers: { 'content-type': 'application/json' },
      ...JSON_TYPE,
    })

  async function newCatalogue(name: string, scope = 'Public'): Promise<string> {
    const answer = await visitor.post(`${base}/catalogues`, { form: { name, scope }, ...JSON_TYPE })
    expect(answer.status).toBe(201)
    return answer.json().id
  }
  const fresh = await newCatalogue('Fresh')

  /** Uploads a file and, if page one is asked for, completes it. */
  async function upload(
    content: string | Buffer,
    { to = fresh, by = visitor, says = {} }: UploadOptions = {},
  ): Promise<{ status: number; json: ImportJson }> {
    const form = new FormData()
    form.set('file', new Blob([content as string]), 'my prices.csv')
    const headers = { cookie: cookieOf(by), ...JSON_TYPE }
    const answer = await fetch(importsOf(to), { method: 'POST', redirect: 'manual', body: form, headers })
    const json = (await answer.json()) as ImportJson
    if (!json.id) return { status: answer.status, json }
    const found = await jobOf(json.id, by)
    const isOpen = !found.reading.found && says !== false
    return { status: answer.status, json: isOpen ? await choose(found, says, by) : found }
  }

  /** Completes page one. Resolves to the import, or to the problem. */
  async function choose(job: ImportJson, says: Answers = {}, by = visitor): Promise<ImportJson> {
    const draft = draftOf(job.reading.outline, says)
    const answer = await post(job.id, 'choice', { draft, goOn: true }, by)
    return answer.status < 400 ? jobOf(job.id, by) : answer.json()
  }

  /** Sends what page two shows. Resolves to the answer. */
  async function send(
    id: string,
    { by = visitor, ...more }: { by?: Visitor; leaveOut?: string[]; seen?: string } = {},
  ) {
    const { checkId } = await jobOf(id, by)
    return post(id, 'send', { seen: checkId, confirm: true, ...more }, by)
  }

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
    choose,
    send,
    post,
    jobOf,
    urlOf,
    importsOf,
    cookieOf,
    /** `POST` on an import: resume, stop or discard. */
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
