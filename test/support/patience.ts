/**
 * A setup file: `vi.waitFor` is as patient as `expect.poll` is by vitest.config.ts, whatever limit a test names. A limit
 * that fits a quiet machine fails on a busy one, and a test that waits in vain fails all the same.
 */
import { vi } from 'vitest'

const { waitFor } = vi
if (waitFor.name !== 'patientWaitFor')
  vi.waitFor = function patientWaitFor(callback, options) {
    const given = typeof options === 'object' ? options : {}
    return waitFor(callback, { ...given, timeout: 60_000 })
  }
