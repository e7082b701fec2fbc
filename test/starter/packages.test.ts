import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const lock = readFileSync(fileURLToPath(new URL('../../package-lock.json', import.meta.url)), 'utf8')

test('a production install has one copy of each package, but for the small ones of express-session', () => {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { dev?: true }> }
  const places = Object.keys(packages).filter((place) => place && !packages[place]?.dev)
  const byName = Map.groupBy(places, (place) => place.split('node_modules/').at(-1))
  const copied = [...byName].filter(([, copies]) => copies.length > 1).map(([name]) => name)
  const known = ['cookie-signature', 'debug', 'ms']
  expect(copied.filter((name) => !known.includes(name ?? ''))).toEqual([])
})
