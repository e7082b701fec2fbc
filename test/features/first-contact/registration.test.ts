import { expect, test } from 'vitest'
import { loadContracts } from '../../../src/features/contracts.ts'
import { toSheet } from '../../../src/features/first-contact/registration.ts'
import { firstContactSettings } from '../../../src/features/first-contact/settings.ts'
import { ConfigError, readSettings } from '../../../src/settings/read.ts'
import { SCOPES } from '../../support/flow.ts'

const contracts = await loadContracts()

const SHEET = toSheet({
  appName: 'Builder Tools',
  logoUrl: undefined,
  baseUrl: 'http://localhost:3000',
  stagingUrl: 'https://staging.example',
  productionUrl: undefined,
  scopes: [...SCOPES, 'unused-scope'],
  contracts,
})

/** The part of the sheet below a heading. */
const partOf = (heading: string): string => SHEET.split(`# ${heading}\n`)[1]?.split('\n#')[0] ?? ''

test('has both redirect urls of each environment whose address is known, and names the setting of the others', () => {
  expect(partOf('Development')).toContain('`http://localhost:3000/connect/context`')
  expect(partOf('Development')).toContain('`http://localhost:3000/connect/callback`')
  expect(partOf('Staging')).toContain('`https://staging.example/connect/context`')
  expect(partOf('Production').trim()).toBe('- Check: Set APP_PRODUCTION_URL to the address of the app.')
})

test('warns of an address that is http', () => {
  expect(partOf('Development')).toContain('Check: The address is http.')
  expect(partOf('Staging')).not.toContain('Check:')
})

test.each(['/?a=b', '/#top', '/tools'])(
  'an address of an environment that ends with %s is refused',
  (end) => {
    const env = { APP_STAGING_URL: `https://app.example${end}` }
    expect(() => readSettings(env, { own: firstContactSettings })).toThrow(ConfigError)
  },
)

test.each(['https://*.app.example', 'https://user:pass@app.example', 'ftp://app.example', 'app.example'])(
  '%s is refused as an address of an environment',
  (address) => {
    const env = { APP_PRODUCTION_URL: address }
    expect(() => readSettings(env, { own: firstContactSettings })).toThrow('APP_PRODUCTION_URL')
  },
)

test('gives the reasons of the features for each scope, and says if there is none', () => {
  const scopes = partOf('Scopes')
  expect(scopes).toContain('`unused-scope`: no feature of this app uses it')
  for (const contract of contracts)
    for (const [name, reason] of Object.entries(contract.scopes))
      expect(scopes.split('\n').find((line) => line.startsWith(`- \`${name}\``))).toContain(reason)
})

test('asks about every assumption, the most important ones first', () => {
  const [, questions = ''] = SHEET.split('## Please confirm or correct')
  const asked = [...questions.matchAll(/\(`([\w-]+)`\)\n/g)].map(([, id]) => id)
  const assumptions = contracts.flatMap((contract) => contract.assumptions)
  const sorted = assumptions.toSorted((one, other) => one.importance - other.importance)
  expect(asked).toEqual(sorted.map(({ id }) => id))
})
