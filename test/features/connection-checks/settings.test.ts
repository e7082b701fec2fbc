import { expect, test } from 'vitest'
import { connectionChecksSettings } from '../../../src/features/connection-checks/settings.ts'
import { readSettings } from '../../../src/settings/read.ts'

const read = (value?: string) =>
  readSettings({ CHECK_CONNECTIONS_EVERY: value }, connectionChecksSettings).everyMs

test.each([
  [undefined, undefined],
  ['60s', 60_000],
  ['30m', 1_800_000],
  ['6h', 21_600_000],
  ['30d', 2_592_000_000],
])('%s is an interval of %s ms', (value, ms) => {
  expect(read(value)).toBe(ms)
})

test.each(['6', 'h', '59s', '31d', '1.5h', '6 h', '-6h'])('%s is refused', (value) => {
  expect(() => read(value)).toThrow('CHECK_CONNECTIONS_EVERY must be a duration from 1m to 30d, such as')
})
