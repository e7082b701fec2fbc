import { test } from 'vitest'
import { killInMidImport } from './kill-support.ts'

test('an app killed in mid-import resumes and completes the import after a restart: the same items, none missing', () =>
  killInMidImport())
