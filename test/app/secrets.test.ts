import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createRecordCipher } from '../../src/connect/vault/encryption.ts'
import { createRecords } from '../../src/connect/vault/records.ts'
import { CLIENT, type Running, startAll, WEBHOOK_SECRET } from '../support/app.ts'
import { signedIn, toCallback } from '../support/flow.ts'
import type { Answer, Visitor } from '../support/visitor.ts'

let app: Running
beforeAll(async () => {
  app = await startAll({ LOG_LEVEL: 'trace' })
})
afterAll(() => app.close())

test('after every flow and fault, no secret is in any log line, page, error, or url sent to another origin', async () => {
  const printed: string[] = []
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, method).mockImplementation((...args) => void printed.push(args.map(String).join(' ')))
  }
  const secrets = new Map<string, string>([
    ['client secret', CLIENT.clientSecret],
    ['webhook secret', WEBHOOK_SECRET],
    ['session secret', app.config.sessionSecrets[0] as string],
    ['token key', app.config.tokenEncryptionKeys[0]?.secret.toString('base64') as string],
  ])
  const said: { where: string; text: string }[] = []
  const visitor = listening(await signedIn(app), said)
  const records = createRecords(app.services.store, createRecordCipher(app.config.tokenEncryptionKeys))

  async function collect(): Promise<void> {
    const stored = await records.read('ann', 'harbour-homes')
    if (stored?.connection.status === 'active') {
      secrets.set(`access token ${secrets.size}`, stored.connection.accessToken)
      secrets.set(`refresh token ${secrets.size}`, String(stored.connection.refreshToken))
    }
    const cookie = decodeURIComponent(visitor.cookies.get(new URL(app.url).host)?.get('connect') ?? '')
    const [, id = '', signature = ''] = /^s:([^.]+)\.(.+)$/.exec(cookie) ?? []
    secrets.set(`session id ${id}`, id)
    secrets.set(`session signature ${id}`, signature)
  }

  async function walkOnce(): Promise<void> {
    const url = await toCallback(app, visitor)
    const { searchParams } = new URL(url)
    if (searchParams.has('code')) secrets.set(`code ${secrets.size}`, searchParams.get('code') as string)
    const key = { kind: 'attempt', owner: 'ann', id: searchParams.get('state') as string }
    const { codeVerifier } = JSON.parse((await app.services.store.get(key)) as string)
    secrets.set(`code verifier ${secrets.size}`, codeVerifier)
    for (const accept of ['text/html', 'application/json']) await visitor.get(url, { accept })
    await collect()
    for (const path of [
      '/',
      '/connections',
      '/connections/harbour-homes/probe',
      '/connections/harbour-homes/catalogues',
      '/connections/harbour-homes/probe/none',
      '/connections/harbour-homes/builder-requests',
      '/connections/%00',
      '/nowhere',
    ]) {
      for (const accept of ['text/html', 'application/json']) await visitor.get(app.url + path, { accept })
    }
    await visitor.post(`${app.url}/connections/harbour-homes/refresh`)
    await collect()
  }

  /** A price file, from its upload to its report. */
  async function importOnce(): Promise<void> {
    const at = `${app.url}/connections/harbour-homes`
    const json = 'application/json'
    const form = { name: 'Prices', scope: 'Managed' }
    const { id } = (await visitor.post(`${at}/catalogues`, { form, accept: json })).json()
    await visitor.post(`${at}/catalogues/${id}/access-controls`, { form: { externalRef: 'CUST1' } })
    const csv = { text: 'code,price\nA1,1\n,2\n', headers: { 'content-type': 'text/csv' }, accept: json }
    const job = (await visitor.post(`${at}/catalogues/${id}/imports`, csv)).json()
    for (const path of ['/start', '/stop', '/columns']) await visitor.post(`${at}/imports/${job.id}${path}`)
    await app.services.imports.settled(job.id, 10_000)
    for (const path of ['', '/report.csv', '/live']) await visitor.get(`${at}/imports/${job.id}${path}`)
    await visitor.post(`${at}/builder-requests/none/accept`)
    for (const signature of ['', '0'.repeat(64)]) {
      const headers = { 'content-type': 'application/json', 'x-webhook-signature': signature }
      await visitor.post(`${app.url}/webhooks/platform`, { text: '{}', headers })
    }
  }

  await walkOnce()
  await importOnce()
  for (const fault of ['500', 'garbage', 'expired', 'forbidden']) {
    for (const endpoint of ['items', 'catalogues']) {
      await importOnce()
      await app.fault(endpoint, fault, 1)
    }
  }
  await fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' })
  for (const fault of ['500', '429', 'garbage', 'drop', 'invalid_grant', 'invalid_client']) {
    await app.fault('exchange', fault, 1)
    await walkOnce()
    await app.fault('refresh', fault, 1)
    await walkOnce()
  }
  for (const fault of ['500', '429', 'garbage', 'drop', 'expired', 'forbidden']) {
    await app.fault('probe', fault, 3)
    await walkOnce()
  }
  for (const fault of ['deny', 'server_error', 'missing_scope']) {
    await app.fault('consent', fault, 1)
    await walkOnce()
  }
  await app.sandbox('revoke')
  await walkOnce()
  await visitor.post(`${app.url}/connections/harbour-homes/disconnect`)
  await visitor.post(`${app.url}/sign-out`)
  vi.restoreAllMocks()

  expect(said.length).toBeGreaterThan(200)
  expect(app.logLines.length).toBeGreaterThan(200)
  expect(secrets.size).toBeGreaterThan(40)
  const everything = [
    ...said,
    ...app.logLines.map((text) => ({ where: 'log', text })),
    ...printed.map((text) => ({ where: 'console', text })),
  ]
  const leaks = [...secrets].flatMap(([name, secret]) =>
    everything
      .filter(({ text }) => secret && text.includes(secret))
      .map(({ where }) => `${name} in ${where}`),
  )
  expect(leaks).toEqual([])
}, 120_000)

/** The visitor, with everything that the app says to it written down; its cookie is the one thing that is a secret. */
function listening(visitor: Visitor, said: { where: string; text: string }[]): Visitor {
  const listen = (answer: Answer): Answer => {
    if (!answer.url.startsWith(app.url)) return answer
    const headers = [...answer.headers].filter(([name]) => name !== 'set-cookie')
    said.push({ where: new URL(answer.url).pathname, text: `${JSON.stringify(headers)}\n${answer.text}` })
    return answer
  }
  const { get, post } = visitor
  visitor.get = async (url, options) => listen(await get(url, options))
  visitor.post = async (url, options) => listen(await post(url, options))
  return visitor
}
