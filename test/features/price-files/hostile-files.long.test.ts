import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkFile } from '../../../src/features/price-files/check-file.ts'
import { tempDir } from '../../support/env.ts'
import { connected } from '../../support/flow.ts'
import { rowsOf, SAM, startPages } from './pages-support.ts'

describe('one user’s hostile files', () => {
  test('do not delay another user’s', async () => {
    const { app, upload, close } = await startPages()
    const junk = `code,price\n${'A\n'.repeat(99_000)}`
    const other = await connected(app, { ...SAM, name: 'other' })
    let ended = 0
    const attack = () => upload(junk, { answers: false }).finally(() => ended++)
    const attacks = Array.from({ length: 5 }, attack)
    expect((await upload(rowsOf(10), { by: other })).json).toMatchObject({ state: 'ready', validRows: 10 })
    expect(ended).toBeLessThan(5)
    for (const { json } of await Promise.all(attacks)) expect(json).toMatchObject({ state: 'ready', rows: 0 })
    await close()
  })
})

describe('files of one user', () => {
  let dir: ReturnType<typeof tempDir>
  beforeEach(() => {
    dir = tempDir()
  })
  afterEach(() => dir.remove())

  test('that have more than 500,000 rows are refused', async () => {
    const path = join(dir.dir, 'long.csv')
    writeFileSync(path, `code,price\n${'A1,1\n'.repeat(500_001)}`)
    await expect(checkFile({ path })).rejects.toThrow(/It has more than 500,000 rows/)
  })
})
