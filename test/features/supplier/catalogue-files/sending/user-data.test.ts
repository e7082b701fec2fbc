import { expect, onTestFinished, test, vi } from 'vitest'
import { deleteUser, exportUser } from '../../../../../src/cli/user-data.ts'
import { startAll } from '../../../../support/app.ts'
import { connected } from '../../../../support/flow.ts'
import { foundInStore } from '../../../../support/store-texts.ts'
import { FAST, fileOf, openPages, SAM } from './support.ts'

test('the export of a user has their files, sent or not; a deletion leaves neither the user nor a file that was not sent', async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const app = await startAll({}, { features: FAST })
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await app.close()
  })
  const name = 'zoë-quinn7'
  const visitor = await connected(app, { ...SAM, name })
  const pages = await openPages(app, visitor)
  const [sent, waiting] = [await pages.newCatalogue('Sent'), await pages.newCatalogue('Waiting')]
  await pages.check(sent, fileOf(3))
  await pages.send(sent)
  await pages.reaches(sent, 'completed')
  await pages.check(waiting, 'code,price\nSECRET-1,1\n')
  const exported = await exportUser(app.services, name)
  expect(exported.features['catalogue-files']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ fileName: 'prices.csv', state: 'completed', items: 3 }),
      expect.objectContaining({ fileName: 'prices.csv', state: 'ready', items: 1 }),
    ]),
  )
  await visitor.post(`${app.url}/sign-out`)
  await deleteUser(app.services, name, { yes: true })
  for (const { key } of await app.services.store.ofOwner(name)) await app.services.store.delete(key)
  expect(await foundInStore(app, [name, 'prices.csv', 'SECRET-1'])).toEqual([])
})
