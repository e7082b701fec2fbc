/** `npm run test:long`: the tests that take minutes, which `npm test` leaves out. */
import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['test/**/*.long.test.ts'],
    exclude: [],
    env: { ...config.test?.env, LONG_TESTS: 'true' },
    testTimeout: 600_000,
  },
})
