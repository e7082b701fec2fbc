import { expect, test } from 'vitest'
import { parseJson } from '../../../src/connect/platform/json.ts'

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test.each([
  ['a hundred levels', nested(100)],
  ['two hundred objects side by side', JSON.stringify(Array(200).fill({}))],
  ['two hundred arrays side by side', JSON.stringify(Array(200).fill([]))],
  ['a text of brackets', JSON.stringify('[{'.repeat(200))],
  ['a text of brackets after an escaped quote', JSON.stringify(`"${'['.repeat(200)}`)],
])('JSON from outside may have %s', (_what, text) => {
  expect(JSON.stringify(parseJson(text))).toBe(text)
})

test.each([
  ['101 levels', nested(101)],
  ['101 levels of objects', '{"a":'.repeat(101) + '1'.padEnd(102, '}')],
  ['101 levels after a text of closing brackets', `["]}]}",${nested(100)}]`],
  ['half of its text', '[{"a":'],
])('JSON from outside with %s is not read', (_what, text) => {
  expect(parseJson(text)).toBeUndefined()
})
