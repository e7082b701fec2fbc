import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openDemo } from '../../../support/demo.ts'
import { command } from '../../../support/process.ts'

/** The check is a feature of its own, which may have been removed. */
const hasCheck = existsSync(new URL('../../../../src/features/supplier/supplier-check/', import.meta.url))

test.skipIf(!hasCheck)(
  'the live pricing of the demo is proven right by the command in the docs',
  async () => {
    const demo = await openDemo()
    await demo.start()
    const docs = readFileSync(new URL('../../../../docs/supplier/supplier-check.md', import.meta.url), 'utf8')
    const [, words = ''] =
      /npm run feature -- supplier-check run (http:\/\/localhost:3000\S+ [^`]+)/.exec(docs) ?? []
    const args = words.replaceAll('\\\n', ' ').trim().replace('http://localhost:3000', demo.app).split(/\s+/)
    const check = await command('src/features/supplier/supplier-check/cli-run.ts', {}, { args })
    expect(check.code, check.output).toBe(0)
    expect(check.output).toContain(' 0 wrong, 0 unproven.')
    await demo.close()
  },
)
