import { describe, test } from 'vitest'
import { killInMidImport } from './kill-support.ts'

describe.skipIf(!process.env.LONG_TESTS)('the app killed in mid-import', () => {
  test('and started at once waits for the lease of the killed process, and then completes the import', () =>
    killInMidImport({ leaseExpired: false }))
})
