import { expect, test } from 'vitest'
import { loadContracts } from '../../../src/features/contracts.ts'
import { toSheet } from '../../../src/features/setup/registration.ts'
import { SCOPES } from '../../support/flow.ts'

const contracts = await loadContracts()
const scopes = [...SCOPES, 'unused-scope']

const SHEET = toSheet({ baseUrl: 'http://localhost:3000', scopes, contracts })

/** The part of the sheet below a heading. */
const partOf = (heading: string): string => SHEET.split(`# ${heading}\n`)[1]?.split('\n#')[0] ?? ''

test('has both redirect urls of this app, and a place for those of other environments', () => {
  const urls = partOf('Redirect URLs')
  expect(urls).toContain('Development: `http://localhost:3000/connect/context`')
  expect(urls).toContain('Development: `http://localhost:3000/connect/callback`')
  expect(urls).toContain('Staging and production: (enter its address)`/connect/callback`')
})

test('gives the reasons of the features for each scope, and says if there is none', () => {
  const part = partOf('Scopes')
  expect(part).toContain('`unused-scope`: no feature of this app uses it')
  for (const contract of contracts)
    for (const [name, reason] of Object.entries(contract.scopes))
      expect(part.split('\n').find((line) => line.startsWith(`- \`${name}\``))).toContain(reason)
})

test('asks about every assumption, the most important ones first', () => {
  const [, questions = ''] = SHEET.split('## Please confirm or correct')
  const asked = [...questions.matchAll(/\(`([\w-]+)`\)\n/g)].map(([, id]) => id)
  const assumptions = contracts.flatMap((contract) => contract.assumptions)
  const sorted = assumptions.toSorted((one, other) => one.importance - other.importance)
  expect(asked).toEqual(sorted.map(({ id }) => id))
})
