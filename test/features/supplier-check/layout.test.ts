import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const FOLDER = fileURLToPath(new URL('../../../src/features/supplier-check', import.meta.url))

test('the checker knows the contract, and nothing of our implementation', () => {
  const files = globSync('**/*.ts', { cwd: FOLDER, exclude: (file) => /^cli-/.test(String(file)) })
  expect(files).not.toEqual([])
  for (const file of files) {
    const outside = [...readFileSync(`${FOLDER}/${file}`, 'utf8').matchAll(/from '(\.\.\/[^']+)'/g)]
    for (const [, target] of outside)
      expect(['../feature.ts', '../../supplier-api/contract.ts'], `${file} imports ${target}`).toContain(
        target,
      )
  }
})
