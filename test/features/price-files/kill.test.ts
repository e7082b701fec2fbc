import { test } from 'vitest'
import { killInMidImport } from './kill-support.ts'

test('the app killed in mid-import completes the import by itself when it starts again: the same items, none missing', () =>
  killInMidImport({ leaseExpired: true }))
