/** `npm run test:long`: the tests that take minutes, which `npm test` leaves out. */
import { defaultExclude, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import config, { projectsOf } from './vitest.config.ts'

/** Words in the names of the slowest files, the slowest first. Files that mostly wait run beside files that compute. */
const LONGEST = [
  'product.long',
  'doors',
  'ended-mail/kill',
  'alerts',
  'update',
  'checks/kill',
  'proxies',
  '/starter/',
  'outage',
  'push',
  'browser',
  'demo-script',
  'chromium',
  'kill',
]

/**
 * Tests that promise a recovery within seconds of a failure. They run at the end, one file at a time, because other tests would
 * slow them down.
 */
const ONE_BY_ONE = ['test/real/failover.long.test.ts', 'test/real/vault-processes.long.test.ts']

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
      ...projectsOf('.long.test.ts', [...defaultExclude, ...ONE_BY_ONE]),
      {
        extends: true,
        test: {
          name: 'one by one',
          include: ONE_BY_ONE,
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
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
