import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createHttp } from '../../../src/connect/index.ts'
import { isAddress, mailAbout } from '../../../src/features/access-ended-mail/mail.ts'
import { texts } from '../../../src/features/access-ended-mail/texts.ts'
import { createMailTransport } from '../../../src/features/access-ended-mail/transport.ts'
import { texts as webTexts } from '../../../src/web/texts.ts'
import { header, htmlOf, linkOf, type MailServer, SENDER, startMailServer } from './mail-server.ts'

const LINK = 'https://app.example/connect?bxcontext=harbour-homes'
const AT = Date.UTC(2026, 10, 28, 1, 47)

let server: MailServer
beforeEach(async () => {
  server = await startMailServer()
})
afterEach(() => server.close())

/** Sends an email about a connection of this name. Resolves to the email that the mail server received. */
async function sent(name: string, settings = {}) {
  const url = `smtp://127.0.0.1:${server.port}`
  const options = { url, from: SENDER, isTlsRequired: false, ...settings }
  const transport = createMailTransport(options, { http: createHttp(), sandboxUrl: undefined })
  const mail = mailAbout({ name, at: AT, link: LINK })
  try {
    await transport.send({ ...mail, to: 'ann@demo.example', id: '<1@connect.example>' })
  } finally {
    transport.close()
  }
  return server.mails.at(-1) ?? expect.fail('no mail')
}

describe('an email', () => {
  test.each([
    ['Harbour\r\nBcc: eve@evil.example'],
    ['Harbour\nBcc: eve@evil.example\n\n<p>Another text'],
    ['Harbour\u0000\u2028\u0085\rBcc: eve@evil.example'],
    ['=?utf-8?q?Harbour=0D=0ABcc:_eve@evil.example?='],
  ])('has no header, recipient or content of a name such as %j', async (name) => {
    const mail = await sent(name)
    const headers = mail.raw.split('\r\n\r\n')[0] ?? ''
    expect(mail.to).toEqual(['ann@demo.example'])
    expect(
      headers
        .match(/^[\w-]+(?=:)/gm)
        ?.map((name) => name.toLowerCase())
        .sort(),
    ).toEqual([
      ...['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'],
    ])
    expect(headers).not.toMatch(/^Bcc/im)
    expect(mail.text.slice(mail.text.indexOf('text/plain'))).not.toMatch(/^Bcc/im)
    expect(htmlOf(mail).match(/<p>/g)).toHaveLength(4)
  })

  test('shows a name as text, and has one link, no picture and nothing that is loaded', async () => {
    const html = htmlOf(await sent('<img src=x onerror=alert(1)> "A" & \u202eB'))
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt; &quot;A&quot; &amp; B')
    expect([...html.matchAll(/<(\w+)/g)].map(([, tag]) => tag)).toEqual(['p', 'p', 'p', 'a', 'p'])
    expect(html.match(/https?:/g)).toEqual(['https:'])
    expect(html).toContain(`<a href="${LINK}">`)
  })

  test.each([
    ['https://evil.example/pay', 'https evil example pay'],
    ['www.evil.example', 'www evil example'],
    ['Write to eve@evil.example now', 'Write to eve evil example now'],
    ['evil．example／pay', 'evil example pay'],
    ['Smith & Sons Pty. Ltd.', 'Smith & Sons Pty. Ltd.'],
    ['x'.repeat(200), 'x'.repeat(60)],
  ])('names %j so that no mail program makes a link of it, and cut', async (name, shown) => {
    const { text } = mailAbout({ name, at: AT, link: LINK })
    expect(text).toContain(texts.lead(shown))
    expect(text).toContain(`${texts.reconnect(shown)}:`)
    expect(text.replace(LINK, '')).not.toMatch(/\w[.。]\w|:\/\/|@/)
  })

  test('says the same as plain text', async () => {
    const mail = await sent('Harbour Homes')
    expect(mail.text).toContain('Content-Type: multipart/alternative')
    expect(mail.text).toContain(texts.lead('Harbour Homes'))
    expect(mail.text).toContain(webTexts.summary.ended('28 Nov 2026, 1:47 am UTC'))
    expect(linkOf(mail)).toBe(LINK)
  })

  test('has the same subject whatever the name of the connection is', async () => {
    const subjects = [await sent('Harbour Homes'), await sent('Win a prize')].map((mail) =>
      header(mail, 'Subject'),
    )
    expect(subjects).toEqual([texts.subject, texts.subject])
  })
})

test('a server that offers no TLS gets no mail, and no password, if TLS is required', async () => {
  const url = `smtp://ann:secret-7@127.0.0.1:${server.port}`
  await expect(sent('Harbour', { url, isTlsRequired: true })).rejects.toMatchObject({
    reason: expect.stringContaining('ETLS'),
  })
  expect(server.mails).toEqual([])
})

test.each(['ann@ridgeline.example', "o'neil+a@x.example", 'jörg@münchen.example', 'zo%C3%AB@demo.example'])(
  '%s is an address',
  (text) => expect(isAddress(text)).toBe(true),
)

test.each([
  ...[
    '',
    'ann',
    'a@b@c.example',
    'a@b.example, eve@evil.example',
    'Ann <a@b.example>',
    'a@b.example\r\nBcc: e@e',
  ],
  ...['a b@c.example', 'group:a@b.example;', '"a b"@c.example', `a@${'b'.repeat(260)}`],
])('%j is none', (text) => expect(isAddress(text)).toBe(false))
