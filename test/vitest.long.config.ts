/** `npm run test:long`: the tests that take minutes, which `npm test` leaves out. */
import { availableParallelism } from 'node:os'
import { defaultExclude, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import config, { projectsOf } from './vitest.config.ts'

/** Words in the names of the slowest files, the slowest first. Files that mostly wait run beside files that compute. */
const LONGEST = [
  'product.long',
  'update',
  'ended-mail/kill',
  'alerts',
  'sending/',
  'checks/kill',
  'doors',
  'proxies',
  'recipes',
  'browser',
  'redis-modes',
  'outage',
  'chromium',
  'walk',
  'demo-script',
  'reworded',
  'kill',
]

/** Its tests promise a recovery within seconds of a failure, and run at once at the end: others would slow them down. */
const AT_THE_END = 'test/real/failover.long.test.ts'

/** Starts the slowest files first, so that no slow file runs alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = LONGEST.findIndex((word) => moduleId.includes(word))
      return rank < 0 ? LONGEST.length : rank
    }
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

export default defineConfig({
  ...config,
  test: {
    ...config.test,
    projects: [
      ...projectsOf('.long.test.ts', [...defaultExclude, AT_THE_END]),
      {
        extends: true,
        test: {
          name: 'at the end',
          include: [AT_THE_END],
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    // Like the others, they mostly wait, so four files at a time keep two cores busy.
    maxWorkers: Math.max(4, availableParallelism()),
    // These tests start vitest in copies of the project, and those runs empty the shared cache.
    fsModuleCache: false,
    sequence: { sequencer: LongestFirst },
    env: { ...config.test?.env, LONG_TESTS: 'true' },
    // A product has no long tests before it writes some.
    passWithNoTests: true,
    // These limits only end tests that hang. On a slow, busy machine, the longest test takes ten minutes.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
})
