import { expect, test } from 'vitest'
import { accessEndedMailSettings } from '../../../src/features/access-ended-mail/settings.ts'
import { readSettings } from '../../../src/settings/read.ts'
import { webTexts } from '../../../src/web/feature-api.ts'

const from = 'no-reply@connect.example'
const read = (env: Record<string, string>) =>
  readSettings({ MAIL_FROM: from, ...env }, accessEndedMailSettings)

test('without MAIL_URL there are no emails', () => {
  expect(read({})).toBeNull()
  expect(readSettings({}, accessEndedMailSettings)).toBeNull()
})

test.each([
  ['smtp://mail.example.com:587', 'development', false],
  ['smtp://mail.example.com:587', 'production', true],
  ['smtps://user:p%40ss@mail.example.com', 'production', true],
  ['smtp://127.0.0.1:25', 'production', false],
  ['smtp://localhost/', 'production', false],
  ['sandbox', 'development', false],
])('%s is a mail server; in %s, whether TLS is required is %s', (url, NODE_ENV, isTlsRequired) => {
  const sender = { name: webTexts.layout.appName, address: from }
  expect(read({ MAIL_URL: url, NODE_ENV })).toEqual({ url, from: sender, isTlsRequired })
})

test.each([
  ...[
    'mail.example.com',
    'http://mail.example.com',
    'smtp://',
    'smtp://h/path',
    'smtp://h?tls.rejectUnauthorized=false',
  ],
  ...['smtp://user:secret-7%zz@h', 'smtp://h#x'],
])('%s is none, and is not repeated', (MAIL_URL) => {
  expect(() => read({ MAIL_URL })).toThrow(/^(?!.*secret-7).*MAIL_URL must be smtp:\/\/HOST:PORT or smtps:/s)
})

test('the sandbox shows no emails in production', () => {
  expect(() => read({ MAIL_URL: 'sandbox', NODE_ENV: 'production' })).toThrow('MAIL_URL must be smtp://')
})

const WITH_SERVER = { MAIL_URL: 'smtp://mail.example.com' }

test('MAIL_FROM is required with MAIL_URL', () =>
  expect(() => readSettings(WITH_SERVER, accessEndedMailSettings)).toThrow('MAIL_FROM is required'))

test.each([
  ['Büro <us@connect.example>', 'Büro'],
  [`"O'Brien, Söhne - Büro" <us@connect.example>`, "O'Brien, Söhne - Büro"],
])('MAIL_FROM=%s has a name', (MAIL_FROM, name) => {
  expect(read({ ...WITH_SERVER, MAIL_FROM })?.from).toEqual({ name, address: 'us@connect.example' })
})

test.each([
  'Us',
  'Us <us>',
  'Us <a@b.example> <c@d.example>',
  'a@b.example, c@d.example',
  'Us\r\nBcc: <a@b.example>',
])('MAIL_FROM=%j is refused', (MAIL_FROM) =>
  expect(() => read({ ...WITH_SERVER, MAIL_FROM })).toThrow('MAIL_FROM must be an address'),
)
