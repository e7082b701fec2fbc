import { afterEach, expect, test } from 'vitest'
import { createHttp } from '../../../src/connect/index.ts'
import check from '../../../src/features/access-ended-mail/check.ts'
import type { CheckContext } from '../../../src/web/feature-api.ts'
import { CERTIFICATES } from '../../support/certificates.ts'
import { freePort } from '../../support/ports.ts'
import { type MailServer, SENDER, startMailServer } from './mail-server.ts'

let server: MailServer | undefined
afterEach(() => server?.close())

const context: CheckContext = {
  http: createHttp(),
  apiUrl: 'http://localhost',
  isSandbox: false,
  noAnswer: (setting, address, error) => ({
    id: 'address',
    status: 'failure',
    setting,
    text: `${address}: ${error}`,
  }),
}
const settings = (url: string) => ({ url, from: SENDER, isTlsRequired: false })

test('the doctor signs in at the mail server and sends nothing; of a refusal it repeats no password', async () => {
  server = await startMailServer(0, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, callback) =>
      password === 'right' ? callback(null, { user: 'ann' }) : callback(new Error('wrong secret-7')),
  })
  const at = (password: string) =>
    check(context, settings(`smtp://ann:${password}@127.0.0.1:${server?.port}`))
  expect(await at('right')).toMatchObject([{ id: 'access-ended-mail.server', status: 'ok' }])
  const findings = await at('secret-7')
  expect(findings).toMatchObject([
    {
      status: 'failure',
      setting: 'MAIL_URL',
      text: expect.stringMatching(/refuses the user or the password/),
    },
  ])
  expect(JSON.stringify(findings)).not.toContain('secret-7')
  expect(server.mails).toEqual([])
})

test('the doctor names a mail server that does not answer, and is silent without a mail server', async () => {
  const port = await freePort()
  expect(await check(context, settings(`smtp://127.0.0.1:${port}`))).toMatchObject([
    { id: 'address', setting: 'MAIL_URL', text: `127.0.0.1:${port}: ECONNREFUSED` },
  ])
  expect(await check(context, null)).toEqual([])
  expect(await check(context, settings('sandbox'))).toEqual([])
})

test('the doctor names a private certificate of the mail server by the code of the error', async () => {
  server = await startMailServer(0, { secure: true, ...CERTIFICATES.valid })
  const found = await check(context, settings(`smtps://localhost:${server.port}`))
  expect(found).toMatchObject([
    { id: 'address', text: expect.stringMatching(/UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED/) },
  ])
})
