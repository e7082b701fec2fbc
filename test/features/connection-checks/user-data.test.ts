import { expect, onTestFinished, test } from 'vitest'
import { connectionKind, platform } from '../../../src/connect/index.ts'
import { NO_COUNTS, readRound, writeRound } from '../../../src/features/connection-checks/round.ts'
import userData from '../../../src/features/connection-checks/user-data.ts'
import { startAll } from '../../support/app.ts'
import { foundInStore } from '../../support/store-texts.ts'

const KIND = connectionKind(platform.name)

test('a user whose place a round had reached is not named by it any more; the round begins again', async () => {
  const app = await startAll()
  onTestFinished(app.close)
  const { store, deps } = app.services
  const names = Array.from({ length: 501 }, (_, index) => `user-${1000 + index}`)
  for (const owner of names) await store.set({ kind: KIND, owner, id: 'x' }, 'x')
  const { groups, cursor } = await store.groups(KIND, null)
  const last = groups.at(-1)?.owner ?? ''
  expect(cursor).not.toBeNull()
  await writeRound(store, {
    ...{ startedAt: 0, cursor, done: false, left: 1, counts: NO_COUNTS, last: null },
  })
  await store.delete({ kind: KIND, owner: last, id: 'x' })
  expect(await foundInStore(app, [last])).not.toEqual([])
  await userData.deleteUser(deps, undefined, names[3] ?? '')
  expect(await readRound(store)).toMatchObject({ cursor })
  await userData.deleteUser(deps, undefined, last)
  expect(await foundInStore(app, [last])).toEqual([])
  expect(await readRound(store)).toMatchObject({ cursor: null, done: false })
})
