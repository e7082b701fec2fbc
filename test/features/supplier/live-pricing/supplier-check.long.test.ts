import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDemo } from '../../../support/demo.ts'
import { command } from '../../../support/process.ts'

/** The check is a feature of its own, which may have been removed. */
const hasCheck = existsSync(new URL('../../../../src/features/supplier/supplier-check/', import.meta.url))

test.skipIf(!hasCheck)(
  'the live pricing of the demo passes every rule with the file in the docs',
  async () => {
    const demo = await openDemo()
    await demo.start()
    const docs = readFileSync(new URL('../../../../docs/supplier/supplier-check.md', import.meta.url), 'utf8')
    const [, json = ''] = /```json\n(\{\n[^`]+)```/.exec(docs) ?? []
    const file = join(await mkdtemp(join(tmpdir(), 'supplier-')), 'supplier.json')
    await writeFile(file, json.replace('http://localhost:3000', demo.app))
    const check = await command('src/features/supplier/supplier-check/cli-run.ts', {}, { args: [file] })
    expect(check.code, check.output).toBe(0)
    expect(check.output).not.toMatch(/^(FAILED|undecided|skipped)/m)
    await demo.close()
  },
)
