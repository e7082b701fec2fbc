import { expect, test } from 'vitest'
import { JSON_TYPE, keyOf, rowsOf, startPages } from './pages-support.ts'

test('a record that cannot be read is no fault of its user’s, is logged, and does not hide the others', async () => {
  const { upload, act, jobOf, catalogueJson, visitor, urlOf, fresh, app, close } = await startPages()
  const { json } = await upload(rowsOf(2))
  await app.services.store.set(keyOf('broken'), '{"format":2,"state":')
  expect(await jobOf('broken')).toMatchObject({ status: 500, code: 'import_unreadable' })
  expect((await visitor.get(urlOf('broken'))).text).toContain('This import cannot be read')
  expect((await catalogueJson(fresh)).imports.map(({ id }) => id)).toEqual([json.id])
  const logged = app.logLines.filter((line) => line.includes('import_unreadable'))
  expect(logged.some((line) => line.includes('"importId":"broken"'))).toBe(true)
  expect((await act('broken', 'discard')).status).toBe(200)
  expect((await visitor.get(urlOf('broken'), JSON_TYPE)).status).toBe(404)
  await close()
})
