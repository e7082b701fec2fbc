import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import type { JobView } from '../../../src/features/price-files/import-service.ts'
import type { importView } from '../../../src/features/price-files/routes.ts'
import { startAll } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'
import type { Visitor } from '../../support/visitor.ts'

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
export type ImportJson = ReturnType<typeof importView> & { status: number; code: string; detail: string }

export interface UploadOptions {
  /** How it is sent: as a browser's form does, or as a body of `text/csv` or `text/plain`. */
  as?: 'form' | 'csv' | 'text'
  /** The catalogue's id; that of the catalogue `Fresh` by default. */
  to?: string
  by?: Visitor
  /** Takes the first answer, which may come before the check has ended. */
  atOnce?: boolean
}

/** The app and the sandbox, and Sam, whose account is connected and has the catalogue `Fresh`. */
export async function startPages(env: Record<string, string> = {}) {
  const app = await startAll(env)
  const visitor = await connected(app, SAM)
  const base = `${app.url}/connections/summit-supplies`
  const urlOf = (id: string) => `${base}/imports/${id}`
  const jobOf = async (id: string, by = visitor): Promise<ImportJson> =>
    (await by.get(urlOf(id), JSON_TYPE)).json()

  async function newCatalogue(name: string): Promise<string> {
    const answer = await visitor.post(`${base}/catalogues`, { form: { name, scope: 'Public' }, ...JSON_TYPE })
    expect(answer.status).toBe(201)
    return answer.json().id
  }
  const fresh = await newCatalogue('Fresh')

  /** The import when its check has ended, which on a busy machine may be after the first answer. */
  const checked = (job: ImportJson, by = visitor): Promise<ImportJson> =>
    vi.waitFor(async () => {
      const now = job.state === 'checking' ? await jobOf(job.id, by) : job
      expect(now.state).not.toBe('checking')
      return now
    }, SOON)

  async function upload(
    content: string | Buffer,
    { as = 'form', to = fresh, by = visitor, atOnce = false }: UploadOptions = {},
  ): Promise<{ status: number; json: ImportJson }> {
    const form = new FormData()
    form.set('file', new Blob([content as string]), 'my prices.csv')
    const types = { csv: { 'content-type': 'text/csv' }, text: { 'content-type': 'text/plain' }, form: {} }
    const answer = await fetch(`${importsOf(to)}${as === 'csv' ? '?name=my%20prices.csv' : ''}`, {
      method: 'POST',
      redirect: 'manual',
      body: as === 'form' ? form : (content as string),
      headers: { cookie: cookieOf(by), ...JSON_TYPE, ...types[as] },
    })
    const json = (await answer.json()) as ImportJson
    return { status: answer.status, json: atOnce ? json : await checked(json, by) }
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
    app,
    visitor,
    fresh,
    newCatalogue,
    upload,
    checked,
    jobOf,
    urlOf,
    importsOf,
    cookieOf,
    /** `POST` on an import: start, stop, discard or columns. */
    act: (id: string, action: string, form: Record<string, string> = {}) =>
      visitor.post(`${urlOf(id)}/${action}`, { form, ...JSON_TYPE }),
    /** Resolves to the import when it is completed or has failed. */
    ended: (id: string) => waitForJob(id, ({ state }) => expect(['completed', 'failed']).toContain(state)),
    /** Resolves when the import waits for the platform. */
    waiting: (id: string, reason = /./) =>
      waitForJob(id, ({ progress }) => expect(progress?.waiting ?? '').toMatch(reason)),
    catalogueJson: async (catalogueId: string): Promise<{ imports: JobView[] }> =>
      (await visitor.get(`${base}/catalogues/${catalogueId}`, JSON_TYPE)).json(),
    /** The names of the files that the app keeps for imports. */
    files: () => {
      const dir = join(app.config.dataDir, 'imports')
      return existsSync(dir) ? readdirSync(dir) : []
    },
    close: app.close,
  }
}

export type Pages = Awaited<ReturnType<typeof startPages>>
