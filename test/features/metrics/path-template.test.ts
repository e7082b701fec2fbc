import { expect, test } from 'vitest'
import { pathTemplates } from '../../../src/features/metrics/path-template.ts'

test('an address has the template of a contract, never an id, and none elsewhere', () => {
  const templateOf = pathTemplates('https://api.example/v1', ['/leads', '/leads/:id', '/leads/latest'])
  const found = (url: string) => templateOf(new URL(url))
  expect(found('https://api.example/v1/leads?$top=1')).toBe('/leads')
  expect(found('https://api.example/v1/leads/ann')).toBe('/leads/:id')
  expect(found('https://api.example/v1/leads/latest')).toBe('/leads/latest')
  expect(found('https://api.example/v1/elsewhere/ann')).toBeUndefined()
  expect(found('https://api.example/v10/leads')).toBeUndefined()
  expect(found('https://other.example/v1/leads')).toBeUndefined()
})
