/**
 * Compares the changelog with the public names of 1.0.0: each of them still exists, or an entry of 2.0.0 names it, so that whoever
 * updates a product finds what replaces it. The lists are never edited.
 */
import { expect, test } from 'vitest'
import { all, codeIn, files, read, rows } from '../support/documents.ts'

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean)

/** The exports of the core, and what a generated feature imported, by the file that exports them today; settings; error codes. */
const NAMES: { exports: Record<string, string>; settings: string; errorCodes: string } = JSON.parse(
  read('test/starter/names-of-1.0.0.json'),
)

const newEntries = read('CHANGELOG.md').split('\n## 1.0.0')[0] ?? ''
const named = new Set(all(newEntries, /`([^`]+)`/g).flatMap((code) => all(code, /\w+/g)))

/** The names that neither exist nor are in the changelog. */
const lost = (names: string, existing: string[]) =>
  wordsOf(names).filter((name) => !existing.includes(name) && !named.has(name))

const exportsOf = (file: string) => [
  ...all(read(file), /^export (?:async |declare )?(?:const|function|class|interface|type) (\w+)/gm),
  ...all(read(file), /^export (?:type )?\{([^}]+)\}/gm).flatMap((list) =>
    list.split(',').map((item) => item.trim().split(' ').at(-1) ?? ''),
  ),
]

test.each(Object.entries(NAMES.exports))(
  '%s has the exports of 1.0.0, or the changelog names them',
  (file, names) => {
    expect(lost(names, exportsOf(file))).toEqual([])
  },
)

test('the settings of 1.0.0 exist, or the changelog names them', () => {
  const documented = files('docs/{,*/}configuration.md').flatMap((page) => all(read(page), /`([A-Z_]+)`/g))
  expect(lost(NAMES.settings, documented)).toEqual([])
})

test('the error codes of 1.0.0 exist, or the changelog names them', () => {
  const explained = files('docs/**/*.md').flatMap((page) =>
    rows(read(page), 'Code').flatMap(([code]) => codeIn(code)),
  )
  expect(lost(NAMES.errorCodes, explained)).toEqual([])
})
