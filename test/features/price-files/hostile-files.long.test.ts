import { expect, test } from 'vitest'
import { connected } from '../../support/flow.ts'
import { rowsOf, SAM, startPages } from './pages-support.ts'
import { failure } from './read-support.ts'

test('one user’s hostile files do not delay another user’s', async () => {
  const { app, upload, close } = await startPages()
  const junk = `code,price\n${'A\n'.repeat(99_000)}`
  const other = await connected(app, { ...SAM, name: 'other' })
  let ended = 0
  const attack = () => upload(junk, { answers: false }).finally(() => ended++)
  const attacks = Array.from({ length: 5 }, attack)
  expect((await upload(rowsOf(10), { by: other })).json).toMatchObject({ state: 'ready', validRows: 10 })
  expect(ended).toBeLessThan(5)
  for (const { json } of await Promise.all(attacks)) expect(json).toMatchObject({ state: 'ready', rows: 0 })
  await close()
})

test('a file with more than 500,000 rows is refused', async () => {
  expect(await failure(`code,price\n${'A1,1\n'.repeat(500_001)}`)).toMatch(/It has more than 500,000 rows/)
})
