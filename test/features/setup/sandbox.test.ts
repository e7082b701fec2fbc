import { describe, expect, test } from 'vitest'
import { sharedApp } from '../../support/app.ts'
import { CLIENT } from '../../support/env.ts'
import { freePort } from '../../support/ports.ts'
import { type Env, expectDiagnosis, findings, problemsOf } from './support.ts'

const all = await sharedApp()
const { appUrl, authUrl, apiUrl } = all.config.platform
const right: Env = {
  BASE_URL: all.url,
  SANDBOX_URL: all.platform,
  PLATFORM_APP_URL: appUrl,
  PLATFORM_AUTH_URL: authUrl,
  PLATFORM_API_URL: apiUrl,
  PLATFORM_CLIENT_ID: CLIENT.clientId,
  PLATFORM_CLIENT_SECRET: CLIENT.clientSecret,
}

test('the right settings have no problem, and each address is proven', async () => {
  const found = await findings(right)
  expect(problemsOf(found)).toEqual([])
  expect(found.map(({ id }) => id)).toEqual(['start-page', 'consent', 'token', 'api', 'clock'])
})

describe('one wrong setting is one finding, and the value that it names ends it:', () => {
  const rows: [name: string, wrong: () => Env, id: string, setting: string][] = [
    ['only unknown scopes', () => ({ PLATFORM_SCOPES: 'unheard-of' }), 'consent.scope', 'PLATFORM_SCOPES'],
    ['PKCE that is off', () => ({ PLATFORM_PKCE: 'false' }), 'pkce.off', 'PLATFORM_PKCE'],
    [
      'the address of the sandbox, left over',
      () => ({ SANDBOX_URL: 'http://localhost:9' }),
      'sandbox-url',
      'SANDBOX_URL',
    ],
    [
      'the address of the catalogues',
      () => ({ PLATFORM_API_URL: `${all.platform}/api/catalogues` }),
      'api.not-found',
      'PLATFORM_API_URL',
    ],
  ]
  test.each(rows)('%s', async (_name, wrong, id, setting) => {
    await expectDiagnosis(right, wrong(), id, setting)
  })

  test('a sandbox that does not run is one finding, which says how to start it', async () => {
    const nobody = `http://localhost:${await freePort()}`
    const [problem, ...others] = problemsOf(
      await findings({
        ...right,
        SANDBOX_URL: nobody,
        PLATFORM_APP_URL: nobody,
        PLATFORM_AUTH_URL: `${nobody}/auth`,
        PLATFORM_API_URL: `${nobody}/api`,
      }),
    )
    expect(others).toEqual([])
    expect(problem).toMatchObject({ id: 'address.refused', setting: 'PLATFORM_APP_URL' })
    expect(problem?.text).toMatch(/PLATFORM_APP_URL, PLATFORM_AUTH_URL, PLATFORM_API_URL.*npm run sandbox/)
  })
})
