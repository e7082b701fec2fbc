import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defaultExclude, defineConfig } from 'vitest/config'
import { CHROMIUM, REDIS } from './support/programs.ts'

for (const [name, found] of Object.entries({ 'redis-server': REDIS, Chromium: CHROMIUM })) {
  if (!found) console.log(`${name} is not on this machine: the tests that need it are skipped.`)
}

/**
 * Projects of the files whose names end like this. They share processes with loaded modules, because loading takes longer than most
 * tests. A file that changes or measures its whole process, such as its clock or memory, is named `.serial` and gets its own
 * process.
 */
export function projectsOf(ending: string, exclude: readonly string[]) {
  const serial = `**/*.serial${ending}`
  return [
    {
      extends: true as const,
      test: {
        name: 'together',
        include: [`test/**/*${ending}`],
        exclude: [...exclude, serial],
        isolate: false,
      },
    },
    {
      extends: true as const,
      test: { name: 'serial', include: [serial], exclude: [...exclude], isolate: true },
    },
  ]
}

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    projects: projectsOf('.test.ts', [...defaultExclude, '**/*.long.test.ts']),
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary'] },
    pool: 'forks',
    restoreMocks: true,
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/connect', import.meta.url)),
    },
    // Most tests wait for programs and clocks, so four files at a time are faster than two, even on two cores.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    setupFiles: ['patience', 'leave-nothing', 'short-failures'].map((name) => `test/support/${name}.ts`),
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
})
