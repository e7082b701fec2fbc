import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { RULES } from '../../../../src/features/supplier/supplier-check/check-supplier.ts'

const ROOT = new URL('../../../../', import.meta.url)

test('docs/supplier/supplier-check.md has a table of exactly the rules, each with its section', () => {
  const page = readFileSync(new URL('docs/supplier/supplier-check.md', ROOT), 'utf8')
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

test('a rule needs only rules that come before it', () => {
  const before = new Set<string>()
  for (const [id, { needs = [] }] of Object.entries(RULES)) {
    expect(needs.filter((need) => !before.has(need)).map((need) => `${id} needs ${need}`)).toEqual([])
    before.add(id)
  }
})

test('the check knows the contract, and nothing of our implementation', () => {
  const folder = fileURLToPath(new URL('src/features/supplier/supplier-check', ROOT))
  const files = globSync('**/*.ts', { cwd: folder, exclude: (file) => /^cli-|\.cli\.ts$/.test(String(file)) })
  expect(files).not.toEqual([])
  const imported = files.flatMap((file) =>
    [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(/from '(\.\.\/[^']+)'/g)].map(([, path]) => path),
  )
  for (const path of imported) expect(['../../../web/kit.ts', '../api/contract.ts']).toContain(path)
})
