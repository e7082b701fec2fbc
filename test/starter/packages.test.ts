import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const lock = readFileSync(fileURLToPath(new URL('../../package-lock.json', import.meta.url)), 'utf8')

/**
 * The packages of OpenTelemetry name exact versions of each other, so their versions in package.json must be chosen
 * together: otherwise there are up to seven copies of one package, which made up 15 of 85 MB.
 */
test('a production install has one copy of each package, but for the small ones of express-session', () => {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { dev?: true }> }
  const places = Object.keys(packages).filter((place) => place && !packages[place]?.dev)
  const byName = Map.groupBy(places, (place) => place.split('node_modules/').at(-1))
  const copied = [...byName].filter(([, copies]) => copies.length > 1).map(([name]) => name)
  const known = ['@opentelemetry/instrumentation', 'cookie-signature', 'debug', 'ms']
  expect(copied.filter((name) => !known.includes(name ?? ''))).toEqual([])
})
