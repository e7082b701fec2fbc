/**
 * A setup file: Gives `vi.waitFor` the time limit that vitest.config.ts sets for `expect.poll`, and ignores the limit in a test. A
 * shorter limit would fail on a busy machine, and a test that waits in vain still fails.
 */
import { vi } from 'vitest'

const { waitFor } = vi
if (waitFor.name !== 'patientWaitFor')
  vi.waitFor = function patientWaitFor(callback, options) {
    const given = typeof options === 'object' ? options : {}
    return waitFor(callback, { ...given, timeout: 60_000 })
  }
