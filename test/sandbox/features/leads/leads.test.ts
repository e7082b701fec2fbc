import { expect, test } from 'vitest'
import * as z from 'zod'
import { SCOPES } from '../../../../src/sandbox/platform.ts'
import { openClient, startSandbox } from '../../../support/sandbox.ts'

test('the leads API pages and sorts as OData does, and has a few dozen leads for each business, all different, the newest of yesterday or today', async () => {
  const { call, close } = await startSandbox()
  const list = async (query: string, bxcontext = 'harbour-homes') =>
    (await call(bxcontext, `/leads${query}`)).json() as Promise<
      { id: string; name: string; status: string; createdAt: string }[]
    >
  const all = await list('')
  expect(all.length).toBeGreaterThan(30)
  expect(await list('?$top=3&$skip=2')).toEqual(all.slice(2, 5))
  const names = (await list('?$orderby=name%20desc')).map(({ name }) => name)
  expect(names).toEqual(names.toSorted().toReversed())
  const dates = (await list('?$orderby=createdAt')).map(({ createdAt }) => createdAt)
  expect(dates).toEqual(dates.toSorted())
  const ageMs = Date.now() - Date.parse(dates.at(-1) ?? '')
  expect(ageMs).toBeGreaterThan(0)
  expect(ageMs).toBeLessThan(2 * 86_400_000)
  const counted = await call('harbour-homes', '/leads?$top=1&$count=true')
  expect(counted.headers.get('x-odata-total-count')).toBe(String(all.length))
  for (const query of ['?$top=x', '?$skip=-1', '?$orderby=nothing', '?$orderby=name%20up']) {
    expect((await call('harbour-homes', `/leads${query}`)).status, query).toBe(400)
  }
  const { name, status } = all[0] ?? {}
  const filter = `contains(name,'${name?.toUpperCase()}') and status eq '${status}'`
  expect(await list(`?$filter=${encodeURIComponent(filter)}`)).toEqual(
    all.filter((lead) => lead.name === name && lead.status === status),
  )
  for (const wrong of ["name eq 'a' or name eq 'b'", 'name eq a', "nothing eq 'a'", "name eq 'a' and "])
    expect((await call('harbour-homes', `/leads?$filter=${encodeURIComponent(wrong)}`)).status, wrong).toBe(
      400,
    )
  const others = await list('', 'harbour-renovations')
  expect(others.some(({ id }) => all.some((lead) => lead.id === id))).toBe(false)
  await close()
})

test('a created lead comes first, and is there by its id', async () => {
  const { call, close } = await startSandbox()
  const created = await call('harbour-homes', '/leads', { name: 'Nora New' })
  expect(created.status).toBe(201)
  const lead = (await created.json()) as { id: string }
  expect(lead).toMatchObject({ name: 'Nora New', status: 'New' })
  expect(await (await call('harbour-homes', '/leads?$top=1')).json()).toEqual([lead])
  expect(await (await call('harbour-homes', `/leads/${lead.id}`)).json()).toEqual(lead)
  expect((await call('harbour-renovations', `/leads/${lead.id}`)).status).toBe(404)
  await close()
})

test('a lead is changed in the fields that are sent, whether it was created or is a sample', async () => {
  const { url, call, close } = await startSandbox()
  const client = openClient(url, 'harbour-homes')
  const created = (await (await call('harbour-homes', '/leads', { name: 'Nora New' })).json()) as {
    id: string
  }
  const [sample = created] = (await (await call('harbour-homes', '/leads?$skip=5&$top=1')).json()) as {
    id: string
  }[]
  for (const lead of [created, sample]) {
    const change = { path: `/leads/${lead.id}`, scope: SCOPES.leads, schema: z.unknown() }
    await client.api.patch(client.source, change, { notes: 'Called.' })
    const changed = { ...lead, notes: 'Called.', status: 'Won' }
    expect(await client.api.patch(client.source, change, { status: 'Won' })).toEqual(changed)
    expect(await (await call('harbour-homes', `/leads/${lead.id}`)).json()).toEqual(changed)
    const wrong = client.api.patch(client.source, change, { name: '' })
    await expect(wrong).rejects.toMatchObject({ code: 'platform_rejected' })
  }
  const unknown = { path: '/leads/unknown', scope: SCOPES.leads, schema: z.unknown(), notFound: 'none' }
  await expect(client.api.patch(client.source, unknown, {})).rejects.toMatchObject({ code: 'not_found' })
  await client.close()
  await close()
})

test.each([
  [{}, 'name must be text'],
  [{ name: '' }, 'name must not be empty'],
  [{ name: 'Nora', email: 1 }, 'email must be text'],
  [[], 'the body must be a JSON object'],
])('a new lead that is not valid (%j) is rejected in plain words', async (body, message) => {
  const { call, close } = await startSandbox()
  const answer = await call('harbour-homes', '/leads', body)
  expect([answer.status, await answer.json()]).toEqual([400, { error: 'invalid_lead', message }])
  await close()
})
