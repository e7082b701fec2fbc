import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { RULES } from '../../../../src/features/supplier/supplier-check/rules.ts'
import { command } from '../../../support/process.ts'
import { SECRET, startModel } from './model.ts'

const run = (...args: string[]) => command('src/features/supplier/supplier-check/cli-run.ts', {}, { args })

describe('npm run feature -- supplier-check run', () => {
  test('prints each rule with its section, and exits with 0 if every rule passes', async () => {
    const { code, output } = await run(await startModel())
    expect(code, output).toBe(0)
    for (const [id, rule] of Object.entries(RULES))
      expect(output).toMatch(new RegExp(`^passed +${id} +.*\\(§${rule.given[0]}\\)$`, 'm'))
  })

  test('names a rule that no member price was given for, and exits with 0', async () => {
    const { code, output } = await run(await startModel(undefined, { memberPrices: {} }))
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/^skipped +prices\.member .*\n +You gave no memberPrices\.$/m),
    ])
  })

  test('exits with 1 if a rule fails, with the reason and the request, and without secrets', async () => {
    const { code, output } = await run(
      await startModel(({ lookUp, tokenBody }) => ({
        // Both suppliers repeat secrets wherever they can.
        tokenBody: { ...tokenBody, expires_in: tokenBody.access_token, secret: SECRET },
        lookUp: (id) => ({
          ...lookUp(id),
          status: 500,
          body: { message: `${SECRET} ${tokenBody.access_token}` },
        }),
      })),
    )
    expect(code).toBe(1)
    expect(output).toMatch(
      /^FAILED +store\.one .*\n +The lookup of north must .*not 500\.\n +> GET \/stores\/north$/m,
    )
    expect(output).toMatch(/^FAILED +token\.expires-in /m)
    expect(output).not.toContain('of-the-Model')
  })

  test('exits with 1 and the reason if nothing answers', async () => {
    const { code, output } = await run(await startModel(undefined, { baseUrl: 'http://127.0.0.1:9' }))
    expect(code).toBe(1)
    expect(output).toMatch(
      /^FAILED +token\.issued .*\n +.*no answer \(ECONNREFUSED\)\.\n +> POST \/connect\/token$/m,
    )
  })

  test.each([
    ['a base address that is no URL', { baseUrl: 'nowhere' }, /baseUrl/],
    ['no true price', { prices: {} }, /must have an item[\s\S]*prices/],
    ['a price that is text', { prices: { 'A-1': '10' } }, /prices\["?A-1/],
    ['a name of a field that the check does not have', { names: { sku: 'itemId' } }, /"sku"/],
    ['a secret that is a number', { clientSecret: 4815162342 }, /clientSecret/],
  ])('refuses a file with %s, and names the field', async (_name, more, words) => {
    const { code, output } = await run(await startModel(undefined, more))
    expect([code, output]).toEqual([1, expect.stringMatching(words)])
    expect(output).not.toMatch(/of-the-Model|4815162342/)
  })
})

test('docs/supplier/supplier-check.md has a table of exactly the rules, each with its section', () => {
  const page = readFileSync(new URL('../../../../docs/supplier/supplier-check.md', import.meta.url), 'utf8')
  const [, table = ''] = page.split('| Rule | Requirement | Section |\n| --- | --- | --- |\n')
  const rows = Object.entries(RULES).map(
    ([
      id,
      {
        given: [section, sentence],
      },
    ]) => `| \`${id}\` | ${sentence} | ${section} |`,
  )
  expect(table.trim().split('\n')).toEqual(rows)
})
