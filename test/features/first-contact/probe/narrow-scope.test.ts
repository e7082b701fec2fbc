import { expect, test } from 'vitest'
import { createOAuth, platform } from '../../../../src/connect/index.ts'
import { loadContracts } from '../../../../src/features/contracts.ts'
import { asHttp, createDoctorHttp } from '../../../../src/features/first-contact/doctor/http.ts'
import { checkNarrowScope } from '../../../../src/features/first-contact/probe/grant-checks.ts'
import { createRecorder } from '../../../../src/features/first-contact/probe/http.ts'
import { createRecording } from '../../../../src/features/first-contact/probe/recording.ts'
import { createResults } from '../../../../src/features/first-contact/probe/results.ts'
import { serve } from '../../../support/ports.ts'
import { configOf } from '../doctor/support.ts'

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
  const http = createDoctorHttp(null, 5_000)
  const recorder = createRecorder(asHttp(http, 5_000))
  const oauth = createOAuth({ ...config.platform, platform, http: recorder })
  const results = createResults(await loadContracts())
  const grant = {
    bxcontext: 'b',
    accessToken: 'a',
    issuedRefreshToken: 'r',
    refreshToken: 'r',
    exchange: { method: 'POST' as const, url },
  }
  const round = { config, http, recorder, oauth, results, recording: createRecording(), grants: [grant] }
  const paths = new Map([
    ['leads', '/leads'],
    ['catalogues', '/catalogues'],
  ])
  await checkNarrowScope(round, grant, paths)
  await Promise.all([http.close(), server.close()])
  return results.list().find(({ id }) => id === 'insufficient-scope')?.seen
}

test('a platform that names all scopes after a refresh with fewer ignores them', async () => {
  expect(await seen('leads catalogues', 200)).toMatch(/^The platform ignores fewer scopes at a refresh\./)
})

test('a platform that names the fewer scopes does not ignore them: its API does not check them', async () => {
  expect(await seen('leads', 200)).toMatch(
    /^The API answers GET \/catalogues without the scope `catalogues`\./,
  )
})

test('a platform that names no scopes may ignore them', async () => {
  expect(await seen(undefined, 200)).toMatch(
    /ignores fewer scopes at a refresh, or the API does not check them/,
  )
})

test('a platform that refuses the call is seen', async () => {
  expect(await seen('leads', 403)).toBe('403, the scope is not named')
})
