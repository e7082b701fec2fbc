/** `npm run test:long`: the tests that take minutes, which `npm test` leaves out. */
import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

const { projects: _, ...test } = config.test ?? {}

export default defineConfig({
  ...config,
  test: {
    ...test,
    include: ['test/**/*.long.test.ts'],
    exclude: [],
    env: { ...test.env, LONG_TESTS: 'true' },
    testTimeout: 600_000,
  },
})
