import { expect, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { loadContracts } from '../../../src/features/contracts.ts'
import { createClient } from '../../../src/features/first-contact/client.ts'
import { Comparisons } from '../../../src/features/first-contact/consent/comparisons.ts'
import { checkNarrowScope } from '../../../src/features/first-contact/consent/grants.ts'
import { serve } from '../../support/ports.ts'
import { configOf } from './support.ts'

/**
 * What the probe reports of a missing scope, on a platform that answers a refresh with fewer scopes with this `scope`, and then
 * a call without the other one with this status.
 */
async function seen(scope: string | undefined, status: number): Promise<string | undefined> {
  const server = await serve((req, res) => {
    const isToken = req.url === '/oauth/token'
    res.writeHead(isToken ? 200 : status, { 'content-type': 'application/json' })
    res.end(JSON.stringify(isToken ? { access_token: 'narrow', expires_in: 60, scope } : []))
  })
  const url = `http://127.0.0.1:${server.port}`
  const config = configOf({
    PLATFORM_APP_URL: url,
    PLATFORM_AUTH_URL: url,
    PLATFORM_API_URL: url,
    PLATFORM_SCOPES: 'leads catalogues',
  })
  const client = createClient(null)
  const comparisons = new Comparisons(await loadContracts())
  const target = { platform, ...config.platform, baseUrl: config.baseUrl, client }
  const grant = {
    bxcontext: 'b',
    accessToken: 'a',
    issuedRefreshToken: 'r',
    refreshToken: 'r',
    exchange: { method: 'POST' as const, url },
  }
  const paths = new Map([
    ['leads', '/leads'],
    ['catalogues', '/catalogues'],
  ])
  await checkNarrowScope(
    { target, comparisons, answers: { calls: [] }, grants: [grant], isChecked: false, isAlive: false },
    grant,
    paths,
  )
  await Promise.all([client.close(), server.close()])
  return comparisons.findings().find(({ id }) => id === 'insufficient-scope')?.text
}

test('a platform that names all scopes after a refresh with fewer ignores them', async () => {
  expect(await seen('leads catalogues', 200)).toMatch(/: The platform ignores fewer scopes at a refresh\./)
})

test('a platform that names the fewer scopes does not ignore them: its API does not check them', async () => {
  expect(await seen('leads', 200)).toMatch(
    /: The API answers GET \/catalogues without the scope `catalogues`\./,
  )
})

test('a platform that names no scopes may ignore them', async () => {
  expect(await seen(undefined, 200)).toMatch(
    /ignores fewer scopes at a refresh, or the API does not check them/,
  )
})

test('a platform that refuses the call is seen', async () => {
  expect(await seen('leads', 403)).toContain('403, the scope is not named')
})
