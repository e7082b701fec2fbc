import { expect, test } from 'vitest'
import { flowInspectorSettings } from '../../../src/features/flow-inspector/settings.ts'
import { readSettings } from '../../../src/settings/read.ts'

const isEnabled = (env: Record<string, string>) => readSettings(env, flowInspectorSettings).isEnabled

test('the inspector is on in development, and off in production unless FLOW_INSPECTOR is true', () => {
  expect(isEnabled({})).toBe(true)
  expect(isEnabled({ NODE_ENV: 'test' })).toBe(true)
  expect(isEnabled({ NODE_ENV: 'production' })).toBe(false)
  expect(isEnabled({ NODE_ENV: 'production', FLOW_INSPECTOR: 'true' })).toBe(true)
  expect(isEnabled({ FLOW_INSPECTOR: 'false' })).toBe(false)
})
