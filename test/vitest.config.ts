import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defaultExclude, defineConfig } from 'vitest/config'
import { CHROMIUM, REDIS } from './support/programs.ts'

for (const [name, found] of Object.entries({ 'redis-server': REDIS, Chromium: CHROMIUM })) {
  if (!found) console.log(`${name} is not on this machine: the tests that need it are skipped.`)
}

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...defaultExclude, '**/*.long.test.ts'],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary'] },
    pool: 'forks',
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/connect-starter', import.meta.url)),
    },
    // Most tests wait for programs and clocks; so four files at a time are quicker than two, even on two cores.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
