import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openDemo } from '../../support/demo.ts'
import { run } from '../../support/process.ts'

test('the live pricing of the demo passes the check, by the command in the docs', async () => {
  const demo = await openDemo()
  await demo.start()
  const docs = readFileSync(new URL('../../../docs/live-pricing.md', import.meta.url), 'utf8')
  const [, words = ''] = /npm run check-supplier -- (http:\/\/localhost:3000\S+ [^`]+)/.exec(docs) ?? []
  const args = words.replaceAll('\\\n', ' ').trim().replace('http://localhost:3000', demo.app).split(/\s+/)
  const check = run('src/features/live-pricing/cli-check-supplier.ts', {}, { args })
  expect(await check.exited, check.output()).toBe(0)
  // Its tokens live for longer than the check waits.
  expect(check.output()).toMatch(/^ -- {3}token\.expiry /m)
  expect(check.output()).toContain(' 0 failed, 1 could not be checked.')
  await demo.close()
})
