import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LIMITS, type Store, storeSchema } from '../../../src/supplier-api/contract.ts'
import { type Files, SAMPLE, SMALL, type Supplier, startSupplier, testSupplier } from './support.ts'

interface Place {
  latitude: number
  longitude: number
}
/** Great-circle distance by vectors, not by the formula that the code uses. */
function away(a: Place, b: Place): number {
  const vector = ({ latitude, longitude }: Place) => {
    const [lat, lon] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180]
    return [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)] as const
  }
  const [[ax, ay, az], [bx, by, bz]] = [vector(a), vector(b)]
  const cross = Math.hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
  return 6371.0088 * Math.atan2(cross, ax * bx + ay * by + az * bz)
}

/** A place on the globe, this far north and east of another one; as precise as a file has it. */
const moved = ({ latitude, longitude }: Place, north: number, east: number): Place => ({
  latitude: Number(Math.max(-90, Math.min(90, latitude + north)).toFixed(9)),
  longitude: Number((((longitude + east + 540) % 360) - 180).toFixed(9)),
})
const CENTRES = [
  [-37.8, 145],
  [89.5, 10],
  [-89.9, -120],
  [5, 180],
  [-20, -180],
  [51, 0],
] as const
const POINTS: Place[] = [
  ...CENTRES.flatMap(([latitude, longitude]) =>
    Array.from({ length: 40 }, (_, at) =>
      moved({ latitude, longitude }, Math.sin(at * 7.1) * (at % 9), Math.cos(at * 3.7) * (at % 13)),
    ),
  ),
  { latitude: 90, longitude: 0 },
  { latitude: -90, longitude: 77 },
  { latitude: 0, longitude: 180 },
  { latitude: 0, longitude: -180 },
]
const WORLD: Files = {
  items: ['code,price', 'A,1'],
  stores: [
    'id,name,latitude,longitude,time_zone',
    ...POINTS.map(({ latitude, longitude }, at) => `P${at},Store ${at},${latitude},${longitude},UTC`),
  ],
}

let world: Supplier
let small: Supplier
beforeAll(async () => {
  ;[world, small] = [await startSupplier(WORLD), await startSupplier()]
})
afterAll(() => Promise.all([world.close(), small.close()]))

const search = (supplier: Supplier, query: Record<string, unknown>) =>
  supplier.call(`/stores/nearest?${new URLSearchParams(query as Record<string, string>)}`)

describe('GET /stores/nearest', () => {
  test('finds the same stores as a vector search of all points, nearest first, including poles and the antimeridian', async () => {
    const degrees = (max: number) => fc.double({ min: -max, max, noNaN: true })
    const place = fc.oneof(
      fc.record({ latitude: degrees(90), longitude: degrees(180) }),
      fc.constantFrom(...POINTS),
      // Not far from a store.
      fc
        .tuple(fc.constantFrom(...POINTS), degrees(4), degrees(25))
        .map(([point, north, east]) => moved(point, north, east)),
    )
    const radius = fc.oneof(
      fc.double({ min: 0, max: 3000, noNaN: true }),
      fc.double({ min: 0, max: 21_000, noNaN: true }),
      fc.constant(0),
    )
    await fc.assert(
      fc.asyncProperty(place, radius, async ({ latitude, longitude }, radiusKm) => {
        const answer = await search(world, { latitude, longitude, radius: radiusKm })
        expect(answer.status).toBe(200)
        const found = (await answer.json()) as { id: string; distance: number }[]
        const distances = found.map(({ distance }) => distance)
        expect(distances).toEqual(distances.toSorted((a, b) => a - b))
        const inRange = POINTS.map((point, at) => ({
          id: `P${at}`,
          km: away({ latitude, longitude }, point),
        }))
        // A metre at the edge is left to rounding.
        const certain = inRange.filter(({ km }) => km < radiusKm - 0.001).sort((a, b) => a.km - b.km)
        const possible = new Map(
          inRange.filter(({ km }) => km <= radiusKm + 0.001).map(({ id, km }) => [id, km]),
        )
        for (const { id, distance } of found)
          expect(Math.abs((possible.get(id) ?? Number.NaN) - distance)).toBeLessThan(0.002)
        expect(found.length).toBeGreaterThanOrEqual(Math.min(certain.length, LIMITS.stores))
        const furthest = distances.at(-1) ?? 0
        const ids = new Set(found.map(({ id }) => id))
        for (const { id, km } of certain)
          if (km < furthest - 0.002) expect(ids.has(id), `${id} at ${km} km`).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('with a radius of 0 finds a store at exactly that point, with longitude 180 or -180', async () => {
    const found = await (await search(world, { latitude: 0, longitude: -180, radius: 0 })).json()
    expect((found as Store[]).map(({ longitude }) => longitude).sort()).toEqual([-180, 180])
  })

  test('returns an empty array if none is in range, and no more than the limit if many are', async () => {
    expect(await (await search(world, { latitude: -50, longitude: -30, radius: 10 })).json()).toEqual([])
    expect(await (await search(world, { latitude: 0, longitude: 0, radius: 50_000 })).json()).toHaveLength(
      LIMITS.stores,
    )
  })

  test.each([
    [{ longitude: 1, radius: 1 }, ['latitude']],
    [{ latitude: 1, radius: 1 }, ['longitude']],
    [{ latitude: 1, longitude: 1 }, ['radius']],
    [{}, ['latitude', 'longitude', 'radius']],
    [{ latitude: 90.1, longitude: -181, radius: -1 }, ['latitude', 'longitude', 'radius']],
    [{ latitude: 'x', longitude: '', radius: 'NaN' }, ['latitude', 'longitude', 'radius']],
    [{ latitude: '0x10', longitude: '1 ', radius: 'Infinity' }, ['latitude', 'longitude', 'radius']],
    [{ latitude: '1,2', longitude: '1e', radius: '1e9' }, ['latitude', 'longitude', 'radius']],
  ])('%j is a 400 that names %j', async (query, names) => {
    const answer = await search(small, query)
    const { errors } = (await answer.json()) as { errors: { path: string }[] }
    expect([answer.status, errors.map(({ path }) => path)]).toEqual([400, names])
  })

  test('a repeated parameter returns 400 with its name', async () => {
    const answer = await small.call('/stores/nearest?latitude=1&latitude=2&longitude=1&radius=1')
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([
      400,
      'latitude: must be a number from -90 to 90.',
    ])
  })
})

describe('GET /stores/{id}', () => {
  test('returns a store, and 404 for an unknown id', async () => {
    expect(await (await small.call('/stores/S1')).json()).toMatchObject({ id: 'S1', name: 'First' })
    for (const id of ['S9', '%20', 's1', 'nearest%2Fx', '__proto__', '%00'])
      expect((await small.call(`/stores/${id}`)).status, id).toBe(404)
  })

  test('a path that cannot be decoded returns 400', async () => {
    expect((await small.call('/stores/%zz')).status).toBe(400)
  })

  test('an id with any characters is found at its encoded path', async () => {
    const odd = 'Zürich/1 #2?%'
    const supplier = await testSupplier({
      items: ['code,price', 'A,1'],
      stores: ['id,name,latitude,longitude,time_zone', `${odd},Odd,1,2,UTC`],
    })
    expect(await (await supplier.call(`/stores/${encodeURIComponent(odd)}`)).json()).toMatchObject({
      id: odd,
    })
  })
})

describe('trading hours', () => {
  test('have seven days, several openings a day, closed days, and holidays with different hours', async () => {
    const supplier = await testSupplier({
      ...SMALL,
      hours: ['store,day,opens,closes', 'S1,Mon,13:00,17:00', 'S1,Monday,7:00,12:00', 'S1,sat,08:00,24:00'],
      holidays: [
        'date,name,store,state,opens,closes',
        '2026-12-25,Christmas Day,,,,',
        '2026-12-26,Boxing Day,,,,',
        '2026-12-26,Boxing Day,,VIC,09:00,12:00',
        '2026-12-26,Boxing Day,,VIC,13:00,15:00',
        '2026-11-03,Cup Day,,VIC,,',
        '2026-12-24,Stocktake,S1,,07:00,12:00',
        '2026-12-25,Open for you,S2,,10:00,11:00',
      ],
    })
    const hoursOf = async (id: string) =>
      storeSchema.parse(await (await supplier.call(`/stores/${id}`)).json()).tradingHours
    const [first, second] = [await hoursOf('S1'), await hoursOf('S2')]
    expect(first.timeZone).toBe('Australia/Melbourne')
    const openings = (hours: { opens: string; closes: string }[]) =>
      hours.map(({ opens, closes }) => `${opens}-${closes}`)
    expect(first.dailyTradingHours.map(({ day, openingHours }) => [day, ...openings(openingHours)])).toEqual([
      ['Monday', '07:00-12:00', '13:00-17:00'],
      ...['Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((day) => [day]),
      ['Saturday', '08:00-24:00'],
      ['Sunday'],
    ])
    expect(first.publicHolidays.map(({ date, openingHours }) => [date, ...openings(openingHours)])).toEqual([
      ['2026-11-03'],
      ['2026-12-24', '07:00-12:00'],
      ['2026-12-25'],
      ['2026-12-26', '09:00-12:00', '13:00-15:00'],
    ])
    expect(second.publicHolidays.map(({ date, name }) => [date, name])).toEqual([
      ['2026-12-25', 'Open for you'],
      ['2026-12-26', 'Boxing Day'],
    ])
  })
})

test('the sample supplier has the documented size: about 2,000 items, 40 stores with hours and holidays', async () => {
  const sample = await testSupplier(SAMPLE)
  const stores = storeSchema
    .array()
    .parse(await (await search(sample, { latitude: -30, longitude: 140, radius: 50_000 })).json())
  expect(stores).toHaveLength(40)
  for (const { tradingHours } of stores) {
    expect(
      tradingHours.dailyTradingHours.filter(({ openingHours }) => openingHours.length > 0).length,
    ).toBeGreaterThanOrEqual(6)
    expect(tradingHours.publicHolidays.length).toBeGreaterThan(15)
  }
})
