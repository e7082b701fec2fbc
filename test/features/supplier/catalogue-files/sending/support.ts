import { expect, vi } from 'vitest'
import type { Difference } from '../../../../../src/features/supplier/catalogue-files/difference.ts'
import type { Import } from '../../../../../src/features/supplier/catalogue-files/import.ts'
import { texts } from '../../../../../src/features/supplier/catalogue-files/import-texts.ts'
import type { FileProblems } from '../../../../../src/features/supplier/catalogue-files/problems.ts'
import { webTexts } from '../../../../../src/web/feature-api.ts'
import { type Running, startAll } from '../../../../support/app.ts'
import { fileForm } from '../../../../support/file-form.ts'
import { connected } from '../../../../support/flow.ts'
import type { Visitor } from '../../../../support/visitor.ts'

/** The sandbox's supplier, who is signed in as Sam. */
export const SAM = { name: 'sam', bxcontext: 'summit-supplies', email: 'priya@summit.example' }
export const JSON_TYPE = { accept: 'application/json' }
/** The sandbox completes imports at once. */
export const FAST = { 'catalogue-files': { importTiming: { itemsPerSecond: 10_000_000, settleMs: 0 } } }

/** The note of a running import while the platform has this outage. */
export const waitingFor = (outage: keyof typeof webTexts.outages) =>
  texts.sending.waiting(webTexts.outages[outage].title)

/** Matches a text of the app whose argument, words of the platform, has these in it. */
export const quoting = (text: (said: string) => string, words: string) =>
  expect.stringMatching(
    new RegExp(
      text('\0')
        .split('\0')
        .map(RegExp.escape)
        .join(`.*${RegExp.escape(words)}.*`),
    ),
  )

const SOON = { timeout: 60_000, interval: 50 }

/** A valid file with this number of items. */
export const fileOf = (items: number, price = 1) =>
  `code,price,name\n${Array.from({ length: items }, (_, at) => `C${at},${at + price},Board ${at}`).join('\n')}\n`

/** The item of a line of such a file. */
export const itemAt = (at: number, price = 1) => ({ code: `C${at}`, price: at + price, name: `Board ${at}` })

/** The items of a catalogue in the sandbox at `url`, by code. */
export async function itemsIn(url: string, catalogueId: string): Promise<Map<string, object>> {
  const all = new Map<string, object>()
  for (let after = ''; ; ) {
    const query = new URLSearchParams({ after, top: '5000' })
    const answer = await fetch(`${url}/sandbox/catalogues/${catalogueId}/items?${query}`)
    const { items } = (await answer.json()) as { items: { code: string }[] }
    for (const item of items) all.set(item.code, item)
    const last = items.at(-1)
    if (!last || items.length < 5000) return all
    after = last.code
  }
}

/** A file or import as JSON, or a problem document. */
export type FileJson = Import & { difference: Difference; status: number; detail: string } & FileProblems & {
    code: string
  }

/** Sam's actions on the pages of an app with a connected account. */
export async function openPages(app: Pick<Running, 'url' | 'platform'>, visitor: Visitor) {
  const base = `${app.url}/connections/summit-supplies/catalogues`
  const urlOf = (catalogueId: string) => `${base}/${catalogueId}/import`
  const json = async (catalogueId: string, by = visitor): Promise<FileJson> =>
    (await by.get(urlOf(catalogueId), JSON_TYPE)).json()
  const act = (catalogueId: string, action: string, body: object = {}, by = visitor) =>
    by.post(`${urlOf(catalogueId)}/${action}`, {
      text: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      ...JSON_TYPE,
    })
  return {
    visitor,
    urlOf,
    json,
    act,
    async newCatalogue(name: string): Promise<string> {
      const created = await visitor.post(base, { form: { name, scope: 'Public' }, ...JSON_TYPE })
      expect(created.status).toBe(201)
      return created.json().id
    },
    /** Checks a file. Resolves to the JSON of the answer. */
    async check(catalogueId: string, content: string, by = visitor): Promise<FileJson> {
      return (await by.post(urlOf(catalogueId), { ...fileForm(content), ...JSON_TYPE })).json()
    },
    /** Sends the file that the page shows. Resolves to the status. */
    async send(catalogueId: string, by = visitor): Promise<number> {
      const { difference } = await json(catalogueId, by)
      return (await act(catalogueId, 'send', { code: difference.code, confirm: true }, by)).status
    },
    /** Resolves to the import when it is in one of these states. */
    reaches: (catalogueId: string, ...states: Import['state'][]): Promise<FileJson> =>
      vi.waitFor(async () => {
        const job = await json(catalogueId)
        expect(states).toContain(job.state)
        return job
      }, SOON),
    /** Resolves when the import has this note. */
    says: (catalogueId: string, note: string): Promise<void> =>
      vi.waitFor(async () => expect((await json(catalogueId)).note).toBe(note), SOON),
  }
}

/** The app and the sandbox with Sam's pages. */
export async function startPages(env: Record<string, string> = {}) {
  const app = await startAll(env, { features: FAST })
  return { ...(await openPages(app, await connected(app, SAM))), app }
}
export type Pages = Awaited<ReturnType<typeof startPages>>
