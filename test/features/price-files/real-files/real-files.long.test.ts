import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBatches } from '../../../../src/features/price-files/batches.ts'
import { checkFile } from '../../../../src/features/price-files/check-file.ts'
import type { Choices } from '../../../../src/features/price-files/questions.ts'
import { runImport } from '../../../../src/features/price-files/run.ts'
import { run } from '../../../support/process.ts'
import { openSupplier, type Supplier } from '../support.ts'
import { REAL_FILES } from './all.ts'
import { type PlainPlatform, startPlainPlatform } from './plain-platform.ts'
import { contentOf } from './real-file.ts'

let platform: PlainPlatform
let supplier: Supplier
const dir = mkdtempSync(join(tmpdir(), 'connect-test-'))
beforeAll(async () => {
  platform = await startPlainPlatform()
  supplier = openSupplier(platform.apiUrl, { credentials: platform.credentials })
})
afterAll(async () => {
  await supplier.close()
  await platform.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Imports a file into a new catalogue with the file's name, as the app does it. */
async function importFile(path: string, name: string, choices: Choices) {
  const { catalogues, catalogueImports, source } = supplier
  const itemsPath = `${path}.items`
  const { check } = await checkFile({ path, itemsPath, choices })
  expect(check.mappingErrors).toEqual([])
  const { id } = await catalogues.create(source, { name, scope: 'Managed' })
  return runImport({
    catalogueImports,
    source,
    catalogueId: id,
    batchId: 'prices-1',
    batches: (skip) => readBatches(itemsPath, { total: check.validRows, skip }),
    pauseMs: 10,
  })
}

const write = (name: string, content: string | Uint8Array) => {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}
const byCode = (items: readonly unknown[]) =>
  [...items].sort((a, b) => ((a as { code: string }).code < (b as { code: string }).code ? -1 : 1))

describe.skipIf(!process.env.LONG_TESTS)('on a platform that the specification alone describes', () => {
  // The platform answers slowly: one after the other, they would take a minute.
  test.concurrent.each(REAL_FILES.map((file) => [file.file, file] as const))(
    'exactly the right items of %s arrive',
    async (name, file) => {
      const path = write(name, contentOf(file))
      if (file.questions) {
        const { check } = await checkFile({ path, itemsPath: `${path}.asked` })
        expect(check.questions).toEqual(file.questions)
      }
      const result = await importFile(path, name, file.choices ?? {})
      expect(result).toMatchObject({ sent: file.items.length, job: { status: 'Succeeded' } })
      expect(byCode(platform.itemsOf(name))).toEqual(byCode(file.items))
    },
  )

  test('a list of several batches arrives, although they are answered late and in another order', async () => {
    const items = Array.from({ length: 4_321 }, (_, row) => ({ code: `R${row}`, price: (row + 1) / 100 }))
    const rows = items.map(({ code, price }) => `${code},${price.toFixed(2)}`)
    const path = write('several-batches.csv', `Code,Price\n${rows.join('\n')}\n`)
    expect(await importFile(path, 'several-batches.csv', {})).toMatchObject({ sent: 4_321, batches: 5 })
    expect(byCode(platform.itemsOf('several-batches.csv'))).toEqual(byCode(items))
  })

  const commands: [file: string, options: string[]][] = [
    ['xero-inventory-items.csv', []],
    ['ambiguous-thousands.csv', ['--decimal', 'point']],
    ['nz-title-says-incl-gst.csv', ['--gst', '15']],
    ['no-headings.csv', ['--no-headings', '--map=code=1', '--map=name=2', '--map=unit=3', '--map=price=4']],
    ['excel-cover-sheet-first.xlsx', ['--sheet', 'Price List']],
    ['qty-rate-amount.csv', ['--map', 'price=Rate']],
  ]
  test.each(commands)(
    'the command sends %s with %j into the catalogue of that name',
    async (name, options) => {
      const file = REAL_FILES.find((known) => known.file === name)
      if (!file) throw new Error(`there is no ${name}`)
      const path = write(name, contentOf(file))
      const { email, apiKey, subscriptionKey } = platform.credentials
      const env = {
        DATA_DIR: dir,
        TOKEN_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
        SESSION_SECRET: 'x',
        PLATFORM_API_URL: platform.apiUrl,
        PLATFORM_API_EMAIL: email,
        PLATFORM_API_KEY: apiKey,
        PLATFORM_SUBSCRIPTION_KEY: subscriptionKey,
      }
      const catalogue = `By command: ${name}`
      platform.addCatalogue(catalogue)
      for (let others = 0; others < 5; others++) platform.addCatalogue(`Another one ${others}`)
      const args = [path, '--catalogue', catalogue, ...options]
      const program = run('src/features/price-files/cli-push-catalogue.ts', env, { args, cwd: dir })
      expect(`${await program.exited} ${program.output()}`).toMatch(/^0 [\s\S]*Completed: \d+ items/)
      expect(program.output()).not.toContain('Created catalogue')
      expect(byCode(platform.itemsOf(catalogue))).toEqual(byCode(file.items))
    },
  )

  test('nothing was sent that the specification does not allow, and logins are rare', () => {
    expect(platform.violations).toEqual([])
    expect(platform.logins).toBeLessThanOrEqual(1 + commands.length)
  })
})
