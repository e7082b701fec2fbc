import { expect, test } from 'vitest'
import importGauges from '../../../src/features/price-files/gauges.ts'
import { codeIn, read, rows } from '../../support/documents.ts'

test('a process without imports has every figure that docs/price-files.md names, and each is 0', async () => {
  const gauges = await importGauges()
  expect(rows(read('docs/price-files.md'), 'Metric').flatMap(([name]) => codeIn(name))).toEqual(
    gauges.map(({ name }) => name),
  )
  expect(gauges.flatMap(({ values }) => values.map(({ value }) => value))).toEqual([0, 0, 0, 0])
})
