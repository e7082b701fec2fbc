import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { format } from '../../../src/web/pages/format.ts'

/**
 * Ways in which a template could show a time without the shared formatting: a written-out element, a `Date` as text, or the raw
 * value.
 */
const OTHERWISE = [
  /<time/,
  /\.date\(|toLocale(Date|Time)|toISOString|toUTCString|DateTimeFormat|new Date/,
  /<%= [^%]*\.time\(/,
  /<%= *(?!t\.)[\w.]*(?:[a-z]At|\.at)\b[^%]*%>/,
]

test('no view shows a date other than as a <time> of `it.time` or `it.sentence`', async () => {
  const views = await Array.fromAsync(glob(['views/**/*.eta', 'src/cli/template/views/**/*.eta']))
  expect(views.length).toBeGreaterThan(10)
  const found = views.flatMap((view) =>
    readFileSync(view, 'utf8')
      .split('\n')
      .filter((line) => OTHERWISE.some((pattern) => pattern.test(line)))
      .map((line) => `${view}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})

test('a time says UTC, for browsers without JavaScript, and is exact for those with it', () => {
  expect(format.time('2026-11-26T09:53:04+11:00')).toBe(
    '<time datetime="2026-11-25T22:53:04.000Z">25 Nov 2026, 10:53 pm UTC</time>',
  )
})

test('a date without a time of day is the same in every time zone', () => {
  expect(format.time('2026-11-26')).toBe('<time datetime="2026-11-26">26 Nov 2026</time>')
})

test('the times of a sentence are times, and the rest is text', () => {
  expect(format.sentence('<b> ended on 2026-11-25T22:53:04.120Z: why')).toBe(
    '&lt;b&gt; ended on <time datetime="2026-11-25T22:53:04.120Z">25 Nov 2026, 10:53 pm UTC</time>: why',
  )
})

test('a value of the platform that is not a time is shown as text', () => {
  expect(format.time('<i>soon</i>')).toBe('&lt;i&gt;soon&lt;/i&gt;')
})
