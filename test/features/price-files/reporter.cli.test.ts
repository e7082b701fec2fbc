import { expect, test } from 'vitest'
import { createReporter } from '../../../src/features/price-files/reporter.cli.ts'

const PROGRESS = { batchId: 'b', importSent: 500, sent: 500, batches: 1, processed: null, waiting: null }

/** What a reporter writes to a terminal, or to a log. */
function writtenTo(isTTY: boolean, work: (reporter: ReturnType<typeof createReporter>) => void): string {
  const written: string[] = []
  work(createReporter({ isTTY, write: (text: string) => written.push(text) > 0 } as NodeJS.WriteStream))
  return written.join('')
}

test('a terminal shows a bar', () => {
  const written = writtenTo(true, (reporter) => {
    reporter.progress({ ...PROGRESS, phase: 'sending' }, { validRows: 1000 })
    reporter.step('Completed')
  })
  expect(written).toBe(`\r\u001b[K[${'#'.repeat(15)}${'.'.repeat(15)}] Sent 500 of 1,000 items\nCompleted\n`)
})

test('what the platform says does not control the terminal, neither on a line nor beside the bar', () => {
  const hostile = 'busy\u001b[2J\r\nForged'
  const written = writtenTo(true, (reporter) => {
    reporter.progress({ ...PROGRESS, waiting: hostile, phase: 'sending' }, { validRows: 1000 })
    reporter.step(hostile)
  })
  expect(written.split('\n')).toEqual([
    `\r\u001b[K[${'#'.repeat(15)}${'.'.repeat(15)}] Sent 500 of 1,000. busy [2J  Forged`,
    'busy [2J  Forged',
    '',
  ])
})

test('a log gets a line at each tenth, and when the import begins to wait', () => {
  const written = writtenTo(false, (reporter) => {
    for (const sent of [500, 510, 600, 600])
      reporter.progress({ ...PROGRESS, sent, phase: 'sending' }, { validRows: 1000 })
    for (const _ of [1, 2])
      reporter.progress({ ...PROGRESS, sent: 600, waiting: 'busy', phase: 'sending' }, { validRows: 1000 })
  })
  expect(written).toBe('Sent 500 of 1,000 items\nSent 600 of 1,000 items\nSent 600 of 1,000. busy\n')
})
