import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Finding } from '../../../src/web/feature-api.ts'
import { SCOPES } from '../../support/flow.ts'
import { hideAdvice, startPlatform } from '../../support/oidc-provider.ts'
import { BASE_URL, type Server, startDoorkeeper, startLemonLdap } from './servers.ts'
import { type Env, findings, problemsOf } from './support.ts'

const servers = new Map<string, Promise<Server>>()
beforeEach(hideAdvice)
afterEach(() => void vi.restoreAllMocks())
afterAll(async () => {
  for (const server of servers.values()) await (await server).close()
})

/** The server of this product whose endpoints are below this path; the doctor changes nothing there. */
function serverOf(start: (at: string) => Promise<Server>, at = '/oauth'): Promise<Server> {
  const name = `${start.name} ${at}`
  const server = servers.get(name) ?? start(at)
  servers.set(name, server)
  return server
}

/** oidc-provider itself. Its start page returns the browser at once, whatever the redirect url. */
async function startOidcProvider(at: string): Promise<Server> {
  const { env, close } = await startPlatform(BASE_URL, { tokenPath: `${at}/token` })
  const { PLATFORM_AUTH_URL: url } = env
  const revocation = { PLATFORM_REVOCATION_URL: `${url}/token/revocation` }
  return { env: { BASE_URL, ...env, ...revocation }, introspectionUrl: `${url}/token/introspection`, close }
}

interface Mistake {
  /** The server's name in the findings. */
  named: string
  env?: (right: Server) => Env
  /** The failure with Doorkeeper, LemonLDAP::NG and oidc-provider; undefined: only doubts. */
  failures: [string?, string?, string?]
}

const everywhere = (id: string): Mistake['failures'] => [id, id, id]
/** Mistakes of developers. */
const MISTAKES: Record<string, Mistake> = {
  'a wrong client id': {
    named: 'PLATFORM_CLIENT_ID',
    env: () => ({ PLATFORM_CLIENT_ID: 'someone' }),
    failures: ['token.client', 'token.client', 'consent.client-id'],
  },
  'a wrong secret': {
    named: 'PLATFORM_CLIENT_SECRET',
    env: () => ({ PLATFORM_CLIENT_SECRET: 'wrong' }),
    failures: ['token.client-secret', 'token.client', 'token.client-secret'],
  },
  'an unregistered redirect url': {
    named: 'BASE_URL',
    env: () => ({ BASE_URL: 'http://localhost:3999' }),
    failures: ['start-page.redirect-url', 'start-page.redirect-url', 'consent.redirect-uri'],
  },
  'a made-up scope': {
    named: 'PLATFORM_SCOPES',
    env: () => ({ PLATFORM_SCOPES: [...SCOPES, 'made-up'].join(' ') }),
    failures: [],
  },
  'a wrong token path': { named: 'tokenPath', failures: everywhere('token.not-found') },
  'a wrong authorize path': {
    named: 'PLATFORM_AUTHORIZE_PATH',
    env: () => ({ PLATFORM_AUTHORIZE_PATH: '/authorise' }),
    failures: everywhere('consent.not-found'),
  },
  'introspection as revocation': {
    named: 'PLATFORM_REVOCATION_URL',
    env: ({ introspectionUrl }) => ({ PLATFORM_REVOCATION_URL: introspectionUrl }),
    failures: everywhere('revocation.not-found'),
  },
  'a path too much': {
    named: 'PLATFORM_AUTH_URL',
    env: ({ env }) => ({ PLATFORM_AUTH_URL: `${env.PLATFORM_AUTH_URL}/oauth` }),
    failures: everywhere('token.not-found'),
  },
}

const settingsIn = ({ text }: Finding) => text.slice(0, text.indexOf(': ')).split(', ')
const failuresIn = (found: Finding[]) => found.filter(({ status }) => status === 'failure')

describe.each([
  { product: 'Doorkeeper', place: 0, start: startDoorkeeper, doubts: ['revocation.not-proven'] },
  { product: 'LemonLDAP::NG', place: 1, start: startLemonLdap, doubts: ['consent.not-proven'] },
  {
    product: 'oidc-provider',
    place: 2,
    start: startOidcProvider,
    doubts: ['start-page.not-proven', 'consent.not-proven'],
  },
])('$product', ({ place, start, doubts }) => {
  test('with the right settings nothing fails, and only what it does not show is not proven', async () => {
    const server = await serverOf(start)
    expect(problemsOf(await findings(server.env)).map(({ id }) => id)).toEqual(doubts)
  })

  test.each(Object.entries(MISTAKES))(
    '%s is never fine, and nothing else is blamed',
    async (mistake, row) => {
      const { named, env = () => ({}), failures } = row
      const server = await serverOf(start, mistake === 'a wrong token path' ? '/o' : '/oauth')
      const found = await findings({ ...server.env, ...env(server) })
      const fine = found.filter(({ status }) => status === 'ok').flatMap(settingsIn)
      expect(fine).not.toContain(named)
      const failure = failures[place]
      expect(failuresIn(found).map(({ id }) => id)).toEqual(failure === undefined ? [] : [failure])
      for (const { text } of failuresIn(found)) expect(text).toContain(named)
      expect(problemsOf(found).some(({ text }) => text.includes(named))).toBe(true)
    },
  )
})

test('where every path answers 401, in any order of its fields, a wrong token path is never the fault of the client', async () => {
  const server = await serverOf(function withoutMetadata(at) {
    return startLemonLdap(at, { hasMetadata: false })
  }, '/o')
  for (const _run of [1, 2, 3])
    expect(failuresIn(await findings(server.env)).map(({ id }) => id)).toEqual(['token.not-found'])
})
