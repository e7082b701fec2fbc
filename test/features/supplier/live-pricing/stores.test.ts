import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LIMITS, type Store, storeSchema } from '../../../../src/features/supplier/api/contract.ts'
import { type Files, SMALL, type Supplier, startSupplier, testSupplier } from './support.ts'

type Place = Pick<Store, 'latitude' | 'longitude'>

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

const CENTRES = '-37.8 145,89.5 10,-89.9 -120,5 180,-20 -180,51 0'.split(',').map((place) => place.split(' '))
/** Forty places around each centre, as precise as a file has them, the poles, and one place by two names. */
const POINTS: Place[] = [
  ...CENTRES.map((place) => place.map(Number)).flatMap(([latitude = 0, longitude = 0]) =>
    Array.from({ length: 40 }, (_, at) => {
      const [north, east] = [Math.sin(at * 7.1) * (at % 9), Math.cos(at * 3.7) * (at % 13)]
      return {
        latitude: Number(Math.max(-90, Math.min(90, latitude + north)).toFixed(9)),
        longitude: Number((((longitude + east + 540) % 360) - 180).toFixed(9)),
      }
    }),
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
const found = async (supplier: Supplier, query: Record<string, number>) =>
  (await (await search(supplier, query)).json()) as (Store & { distance: number })[]

describe('GET /stores/nearest', () => {
  test('finds the same stores as a vector search of all points, nearest first, including poles and the antimeridian', async () => {
    const degrees = (max: number) => fc.double({ min: -max, max, noNaN: true })
    const anywhere = fc.record({ latitude: degrees(90), longitude: degrees(180) })
    const radii = [3000, 21_000].map((max) => fc.double({ min: 0, max, noNaN: true }))
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anywhere, fc.constantFrom(...POINTS)),
        fc.oneof(...radii, fc.constant(0)),
        async (place, radius) => {
          const stores = await found(world, { ...place, radius })
          const distances = stores.map(({ distance }) => distance)
          expect(distances).toEqual(distances.toSorted((a, b) => a - b))
          const km = new Map(POINTS.map((point, at) => [`P${at}`, away(place, point)]))
          for (const { id, distance } of stores) expect(distance).toBeCloseTo(km.get(id) ?? Number.NaN, 2)
          // A metre at the edge is left to rounding.
          const missed = [...km].filter(([id]) => !stores.some((store) => store.id === id))
          const edge = stores.length < LIMITS.stores ? radius : (distances.at(-1) ?? 0)
          expect(missed.filter(([, distance]) => distance < edge - 0.002)).toEqual([])
          expect(distances.at(-1) ?? 0).toBeLessThan(radius + 0.002)
        },
      ),
      { numRuns: 50 },
    )
  })

  test('with a radius of 0 finds a store at exactly that point, with longitude 180 or -180', async () => {
    const stores = await found(world, { latitude: 0, longitude: -180, radius: 0 })
    expect(stores.map(({ longitude }) => longitude).sort()).toEqual([-180, 180])
  })

  test('returns an empty array if none is in range, and no more than the limit if many are', async () => {
    expect(await found(world, { latitude: -50, longitude: -30, radius: 10 })).toEqual([])
    expect(await found(world, { latitude: 0, longitude: 0, radius: 50_000 })).toHaveLength(LIMITS.stores)
  })

  test.each([
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
    const { detail } = (await answer.json()) as { detail: string }
    expect([answer.status, detail]).toEqual([400, 'latitude: must be a number from -90 to 90.'])
  })
})

describe('GET /stores/{id}', () => {
  test('returns a store, 404 for an unknown id, and 400 for a path that cannot be decoded', async () => {
    expect(await (await small.call('/stores/S1')).json()).toMatchObject({ id: 'S1', name: 'First' })
    for (const id of ['S9', '%20', 's1', 'nearest%2Fx', '__proto__', '%00'])
      expect((await small.call(`/stores/${id}`)).status, id).toBe(404)
    expect((await small.call('/stores/%zz')).status).toBe(400)
  })

  test('an id with any characters is found at its encoded path', async () => {
    const id = 'Zürich/1 #2?%'
    const supplier = await testSupplier({
      items: ['code,price', 'A,1'],
      stores: ['id,name,latitude,longitude,time_zone', `${id},Odd,1,2,UTC`],
    })
    expect(await (await supplier.call(`/stores/${encodeURIComponent(id)}`)).json()).toMatchObject({ id })
  })

  test('has seven days, several openings a day, closed days, and the most particular holiday of a date', async () => {
    const supplier = await testSupplier({
      ...SMALL,
      hours: ['store,day,opens,closes', 'S1,Mon,13:00,17:00', 'S1,Monday,7:00,12:00', 'S1,sat,08:00,24:00'],
      holidays: [
        'date,name,store,state,opens,closes',
        '2026-12-25,Christmas Day,,,,',
        '2026-12-26,Boxing Day,,,,',
        '2026-12-26,Boxing Day in Victoria,,VIC,13:00,15:00',
        '2026-12-26,Boxing Day in Victoria,,VIC,09:00,12:00',
        '2026-11-03,Cup Day,,VIC,,',
        '2026-12-24,Stocktake,S1,,07:00,12:00',
        '2026-12-25,Open for you,S2,,10:00,11:00',
      ],
    })
    const hoursOf = async (id: string) => {
      const { tradingHours } = storeSchema.parse(await (await supplier.call(`/stores/${id}`)).json())
      const shown = (key: string, openings: { opens: string; closes: string }[]) =>
        [key, ...openings.map(({ opens, closes }) => `${opens}-${closes}`)].join(' ')
      return {
        days: tradingHours.dailyTradingHours.map(({ day, openingHours }) => shown(day, openingHours)),
        holidays: tradingHours.publicHolidays.map(({ date, name, openingHours }) =>
          shown(`${date} ${name}`, openingHours),
        ),
      }
    }
    expect(await hoursOf('S1')).toEqual({
      days: [
        'Monday 07:00-12:00 13:00-17:00',
        ...['Tuesday', 'Wednesday', 'Thursday', 'Friday'],
        'Saturday 08:00-24:00',
        'Sunday',
      ],
      holidays: [
        '2026-11-03 Cup Day',
        '2026-12-24 Stocktake 07:00-12:00',
        '2026-12-25 Christmas Day',
        '2026-12-26 Boxing Day in Victoria 09:00-12:00 13:00-15:00',
      ],
    })
    expect((await hoursOf('S2')).holidays).toEqual([
      '2026-12-25 Open for you 10:00-11:00',
      '2026-12-26 Boxing Day',
    ])
  })
})
