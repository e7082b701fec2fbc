import { expect, onTestFinished, test, vi } from 'vitest'
import { deleteUser, exportUser } from '../../../../src/cli/user-data.ts'
import { startAll } from '../../../support/app.ts'
import { connected } from '../../../support/flow.ts'
import { foundInStore } from '../../../support/store-texts.ts'
import { openPages, rowsOf, SAM } from './pages-support.ts'
import { readHere } from './read-here.ts'
import { FAST } from './support.ts'

test('a user who is deleted leaves nothing of price files, sent or not, and the next user is told no name', async () => {
  readHere()
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const app = await startAll({}, { features: FAST })
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await app.close()
  })
  const name = 'zoë-quinn7'
  const visitor = await connected(app, { ...SAM, name })
  const pages = await openPages(app, visitor)
  const sent = (await pages.upload(rowsOf(3))).json
  await pages.send(sent.id)
  await pages.ended(sent.id)
  const waiting = (await pages.upload('code,name,price\nA1,Nail,\n')).json
  const exported = await exportUser(app.services, name)
  expect(exported.features).toMatchObject({
    'price-files': { found: { [waiting.id]: { found: { rows: 1, items: 0 } }, [sent.id]: {} } },
  })
  await visitor.post(`${app.url}/sign-out`)
  await deleteUser(app.services, name, { yes: true })
  for (const { key } of await app.services.store.ofOwner(name)) await app.services.store.delete(key)
  expect(await foundInStore(app, [name, waiting.id])).toEqual([])
})
