import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { unmarkedWords } from '../support/unmarked-words.ts'

test('a sentence that is in no file of texts is found', () => {
  expect(unmarkedWords('<p>⟦a⟧</p><p title="Not a text">Written here</p>', [])).toEqual([
    'Written here',
    'Not a text',
  ])
})

// The long tests walk through the pages, and find sentences that are in the code instead.
test('no template for users has a sentence of its own', () => {
  const forDevelopers = /^(sandbox|public|flow-inspector|setup)\//
  const views = fileURLToPath(new URL('../../views/', import.meta.url))
  for (const view of globSync('**/*.eta', { cwd: views }).filter((name) => !forDevelopers.test(name))) {
    const html = readFileSync(views + view, 'utf8').replace(/<%.*?%>/gs, ' ')
    expect(unmarkedWords(html, []), view).toEqual([])
  }
})
