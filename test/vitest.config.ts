import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defaultExclude, defineConfig } from 'vitest/config'
import { CHROMIUM, REDIS } from './support/programs.ts'

for (const [name, found] of Object.entries({ 'redis-server': REDIS, Chromium: CHROMIUM })) {
  if (!found) console.log(`${name} is not on this machine: the tests that need it are skipped.`)
}

/** What changes or measures the whole process: its clock, `fetch`, `JSON`, its memory. Each has a process of its own. */
const ALONE = '**/*.alone.test.ts'
const NOT_HERE = [...defaultExclude, '**/*.long.test.ts']

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    projects: [
      // Files share a process and what it has loaded: to load it takes longer than most tests.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...NOT_HERE, ALONE],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: [ALONE], exclude: NOT_HERE, isolate: true } },
    ],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary'] },
    pool: 'forks',
    restoreMocks: true,
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/connect-starter', import.meta.url)),
    },
    // Most tests wait for programs and clocks; so four files at a time are quicker than two, even on two cores.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    setupFiles: ['patience', 'leave-nothing', 'short-failures'].map((name) => `test/support/${name}.ts`),
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
})
