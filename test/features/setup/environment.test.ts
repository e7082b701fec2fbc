import { expect, test } from 'vitest'
import { changedValues } from '../../../src/features/setup/environment.ts'

test.each([
  'ab#c',
  '#abc',
  'a"b#c',
  '"a"b#c"',
  '"a#\'b"c"',
  "'it's # ours'",
  '"a\\nb"',
  '`a`b`',
  '"abc\nB="x"',
  'x\'y"z`#1',
])('the line A=%s is read otherwise, and its value is not shown', (line) => {
  const [finding, ...others] = changedValues(`FIRST=1\r\nA=${line}\r\n`)
  expect(others).toEqual([])
  expect(finding).toMatchObject({ id: 'env-file', status: 'warning', setting: 'A' })
  expect(finding?.text).not.toContain(line.slice(1))
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
