import { describe, expect, test } from 'vitest'
import { loadContracts } from '../../../../src/features/contracts.ts'
import { registrationOf, warningsOf } from '../../../../src/features/first-contact/registration.ts'
import { toMarkdown } from '../../../../src/features/first-contact/registration-text.ts'
import { tempDir } from '../../../support/env.ts'
import { SCOPES } from '../../../support/flow.ts'
import { command } from '../../../support/process.ts'

test.each([
  ['https://app.example', []],
  ['https://app.example/?a=b', ['query string']],
  ['https://app.example/#top', ['fragment']],
  ['https://*.app.example', ['wildcard']],
  ['https://app.example/tools', ['a path']],
  ['https://user:pass@app.example', ['a user or a password']],
  ['http://app.example', ['https only']],
  ['http://localhost:3000', ['http for localhost']],
  ['http://127.0.0.1:3000', ['http for localhost']],
  ['ftp://app.example', ['not an http or https address']],
  ['app.example', ['not an http or https address']],
])('%s is warned of: %j', (address, warnings) => {
  const found = warningsOf(address)
  expect(found).toHaveLength(warnings.length)
  for (const [index, warning] of warnings.entries()) expect(found[index]).toContain(warning)
})

describe('the registration', () => {
  const registration = async () =>
    registrationOf({
      appName: 'Builder Tools',
      logoUrl: undefined,
      baseUrl: 'http://localhost:3000',
      stagingUrl: 'https://staging.example/',
      productionUrl: undefined,
      scopes: [...SCOPES, 'unused-scope'],
      contracts: await loadContracts(),
    })

  test('has both redirect urls of each environment whose address is known, and names the setting of the others', async () => {
    const { environments } = await registration()
    expect(environments.map(({ name, urls }) => [name, urls])).toEqual([
      ['Development', ['http://localhost:3000/connect/context', 'http://localhost:3000/connect/callback']],
      ['Staging', ['https://staging.example/connect/context', 'https://staging.example/connect/callback']],
      ['Production', []],
    ])
    expect(environments[2]?.warnings).toEqual(['Set APP_PRODUCTION_URL to the address of the app.'])
  })

  test.each([
    ['https://PROD.Example.com:443', 'https://prod.example.com/connect/context'],
    ['https://app.example/tools?x=1', 'https://app.example/connect/context'],
    ['https://user:pass@app.example', 'https://app.example/connect/context'],
    ['https://*.example', undefined],
  ])('prints the urls that the app sends, and not %s as it is', async (address, url) => {
    const contracts = await loadContracts()
    const { environments } = registrationOf({
      appName: 'x',
      logoUrl: 'javascript:alert(1)',
      baseUrl: address,
      stagingUrl: undefined,
      productionUrl: undefined,
      scopes: [],
      contracts,
    })
    expect(environments[0]?.urls[0]).toBe(url)
  })

  test('gives the reasons of the features for each scope, and says if there is none', async () => {
    const text = toMarkdown(await registration())
    expect(text).toContain('`unused-scope`: no feature of this app uses it')
    const contracts = await loadContracts()
    for (const { scopes } of contracts)
      for (const [name, reason] of Object.entries(scopes)) {
        const { reasons } = (await registration()).scopes.find((scope) => scope.name === name) ?? {}
        expect(reasons).toContain(reason)
      }
  })

  test('asks about every assumption, the most important ones first', async () => {
    const { questions } = await registration()
    const contracts = await loadContracts()
    const ids = contracts.flatMap(({ assumptions }) => assumptions.map(({ id }) => id))
    expect(questions.map(({ id }) => id).sort()).toEqual(ids.toSorted())
    expect(questions.map(({ importance }) => importance)).toEqual(
      questions.map(({ importance }) => importance).toSorted(),
    )
    expect(questions[0]?.id).toBe(ids[0])
  })
})

test('npm run registration prints it as text or Markdown, without credentials', async () => {
  const { dir, remove } = tempDir()
  const script = 'src/features/first-contact/cli-registration.ts'
  const env = { APP_NAME: 'Builder Tools', BASE_URL: 'http://localhost:3210' }
  const programs = []
  for (const args of [[], ['--markdown']]) programs.push(await command(script, env, { cwd: dir, args }))
  expect(programs.map(({ code }) => code)).toEqual([0, 0])
  const [text = '', markdown = ''] = programs.map(({ output }) => output)
  expect(text).toMatch(/^Registration of Builder Tools\n=+$/m)
  expect(text).not.toMatch(/[`*]{2}|`/)
  expect(markdown).toContain('# Registration of Builder Tools')
  expect(markdown).toContain('- `http://localhost:3210/connect/callback`')
  remove()
})
