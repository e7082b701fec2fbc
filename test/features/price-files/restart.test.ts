import { existsSync, mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createDependencies } from '../../../src/dependencies.ts'
import { loadFeatures } from '../../../src/features/load.ts'
import type { Running } from '../../support/app.ts'
import { type Pages, rowsOf, startPages } from './pages-support.ts'

const features = await loadFeatures()

let pages: Pages
beforeEach(async () => {
  pages = await startPages()
})
afterEach(() => pages.close())

const stopped = ({ services }: Running) =>
  services.parts[services.features.findIndex(({ name }) => name === 'price-files')]?.stop?.()

/** Another process of the app, on the same store and files. */
async function startAgain() {
  const { config, log } = pages.app.services
  const next = await createDependencies(config, log, features)
  for (const part of next.parts) part.start?.()
  return next
}

describe('after a restart of the app', () => {
  test('an interrupted import resumes, and it did not delay the app’s shutdown', async () => {
    const { upload, act, waiting, jobOf, ended, app } = pages
    const { json } = await upload(rowsOf(3000))
    await app.fault('items', '500')
    await act(json.id, 'start')
    await waiting(json.id)
    const started = performance.now()
    await stopped(app)
    expect(performance.now() - started).toBeLessThan(3_000)
    expect(await jobOf(json.id)).toMatchObject({ state: 'running' })
    await app.fault('items', 'none')
    const next = await startAgain()
    expect(await ended(json.id)).toMatchObject({ state: 'completed', progress: { sent: 3000 } })
    await next.close()
  })

  test('what a killed process left in the folder is deleted', async () => {
    const orphan = join(pages.app.config.dataDir, 'imports', 'check-killed')
    mkdirSync(orphan, { recursive: true })
    utimesSync(orphan, 0, 0)
    const next = await startAgain()
    await vi.waitFor(() => expect(existsSync(orphan)).toBe(false), { timeout: 15_000, interval: 10 })
    await next.close()
  })
})
