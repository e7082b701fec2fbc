import { expect, test } from 'vitest'
import { openSqlite } from '../../../src/connect/stores.ts'
import { createRememberedChoices } from '../../../src/features/price-files/remembered-choices.ts'
import { read } from './read-support.ts'

test('choices are remembered for the same headings and questions only, so that no answer is used for another file', async () => {
  const store = openSqlite({ file: ':memory:' })
  const { layoutOf } = createRememberedChoices(store)
  const idOf = async (file: string) => layoutOf(await read(file))
  const file = 'Code,Trade price\nA,1.50\n'
  expect(await idOf('Code,Trade price\nB,2.50\nC,3\n')).toBe(await idOf(file))
  expect(await idOf(`July\n${file}`)).toBe(await idOf(file))
  const others = [
    'Code,Dealer price\nA,1.50\n',
    `All prices include GST\n${file}`,
    'Code,Price\nA,1.50\n',
    'Code,Price\nA,"1,250"\n',
  ]
  const ids = await Promise.all([file, ...others].map(idOf))
  expect(new Set(ids).size).toBe(5)
  await store.close()
})

test('choices for a file without headings are not remembered: another file may have other columns', async () => {
  const store = openSqlite({ file: ':memory:' })
  expect(createRememberedChoices(store).layoutOf(await read('A1,Nail,1.50,2.50\n'))).toBeNull()
  await store.close()
})
