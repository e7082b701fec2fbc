import { defineConfig } from 'vitest/config'
import { CHROMIUM, REDIS } from './support/programs.ts'

for (const [name, found] of Object.entries({ 'redis-server': REDIS, Chromium: CHROMIUM })) {
  if (!found) console.log(`${name} is not on this machine: the tests that need it are skipped.`)
}

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
