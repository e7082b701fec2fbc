import { expect, test } from 'vitest'
import { texts } from '../../../src/features/price-files/texts.ts'
import { format } from '../../../src/web/kit.ts'

const FILE = 'file\u202E'
const CATALOGUE = 'catalogue\u202E'
const { notice, page, ready, sending, confirm } = texts

test.each([
  notice.completed(FILE, 1, CATALOGUE),
  notice.stopped(FILE, 'It was refused.'),
  page.discardHint(1, 2, CATALOGUE),
  confirm.moveHere(FILE),
  ready.rows(1, 2, CATALOGUE),
  ready.rowsWithProblems(1, 2, CATALOGUE, 1),
  sending.completed(1, CATALOGUE),
  sending.stopHint(CATALOGUE),
  sending.waits(FILE, CATALOGUE),
])('the names of a file and a catalogue do not turn the sentence around them: %s', (text) => {
  const html = format.sentence(text)
  expect(html).toMatch(/<bdi>(file|catalogue)<\/bdi>/)
  expect(html.replaceAll(/<bdi>\w+<\/bdi>/g, '')).not.toContain('\u202E')
})
