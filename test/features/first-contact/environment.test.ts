import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { changedValues } from '../../../src/features/first-contact/environment.ts'

const QUOTES = /Put the value in \S+(?: quotes)? \((.)\)$/

test.each<[line: string, value: string]>([
  ['ab#c', 'ab#c'],
  ['#abc', '#abc'],
  ['a"b#c', 'a"b#c'],
  ['"a"b#c"', 'a"b#c'],
  ['"a#\'b"c"', 'a#\'b"c'],
  ["'it's # ours'", "it's # ours"],
  ['"a\\nb"', 'a\\nb'],
  ['`a`b`', 'a`b'],
  ['"abc\nB="x"', '"abc'],
])('the line A=%s is read otherwise, and the quotes that are named keep it', (line, value) => {
  const [finding, ...others] = changedValues(`FIRST=1\r\nA=${line}\r\n`)
  expect(others).toEqual([])
  expect(finding).toMatchObject({ id: 'env-file', status: 'warning', setting: 'A' })
  const [, quote = ''] = QUOTES.exec(finding?.text ?? '') ?? []
  expect(parseEnv(`A=${quote}${value}${quote}`).A).toBe(value)
})

test('a value that no quotes can hold is told, and never shown', () => {
  const [{ text } = { text: '' }] = changedValues('A=x\'y"z`#1')
  expect(text).toContain('No quotes can hold it')
  expect(text).not.toContain('z`')
})

test.each([
  'plain',
  "'a\"b#c'",
  '"with # inside"',
  'x y # a comment',
  '"x" # a comment',
  ' # a comment',
  '""',
  'a"b',
])('the line A=%s is read as it stands', (line) => {
  expect(changedValues(`\uFEFFA=${line}\r\nB='1'`)).toEqual([])
})
