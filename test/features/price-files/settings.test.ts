import { expect, test } from 'vitest'
import { priceFilesSettings } from '../../../src/features/price-files/settings.ts'
import { type Environment, readSettings } from '../../../src/settings/read.ts'

const read = (env: Environment) => readSettings(env, priceFilesSettings)

test('sizes are set in megabytes', () => {
  expect(read({})).toEqual({
    maxBytes: 200_000_000,
    quotaBytes: 500_000_000,
    totalBytes: 2_000_000_000,
  })
  expect(read({ MAX_UPLOAD_MB: '1', UPLOAD_QUOTA_MB: '2', UPLOAD_TOTAL_MB: '3' })).toEqual({
    maxBytes: 1_000_000,
    quotaBytes: 2_000_000,
    totalBytes: 3_000_000,
  })
})

test.each([
  ['MAX_UPLOAD_MB', '0'],
  ['MAX_UPLOAD_MB', '1.5'],
  ['UPLOAD_QUOTA_MB', 'much'],
])('%s=%s is refused by name', (name, value) => {
  expect(() => read({ [name]: value })).toThrow(`problem: ${name} must be a whole number of megabytes`)
})
