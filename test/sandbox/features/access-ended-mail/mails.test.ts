import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningSandbox, startSandbox } from '../../../support/sandbox.ts'
import { createVisitor } from '../../../support/visitor.ts'

let sandbox: RunningSandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

const MAIL = {
  from: { name: 'App', address: 'us@app.example' },
  to: 'ann@demo.example',
  subject: 'A <b>subject</b>',
  text: 'One <i>text</i>.\n\nReconnect:\nhttps://app.example/connect?a="><script>\n\njavascript:alert(1)',
}
const send = (mail: unknown, headers = {}) =>
  fetch(`${sandbox.url}/mails`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(mail),
  })
const page = async () => (await createVisitor().get(`${sandbox.url}/mails`)).text

test('an email is shown as text, the latest first, with its web addresses as links, until a reset', async () => {
  expect((await send(MAIL)).status).toBe(204)
  expect((await send({ ...MAIL, subject: 'Later' })).status).toBe(204)
  const shown = await page()
  expect([...shown.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, subject]) => subject)).toEqual([
    ...['Later', 'A &lt;b&gt;subject&lt;/b&gt;'],
  ])
  expect(shown).toContain('<p>One &lt;i&gt;text&lt;/i&gt;.</p>')
  expect(shown.match(/<a class="long" href="https:\/\/app[^>]*>/)?.[0]).toBe(
    '<a class="long" href="https://app.example/connect?a=&quot;&gt;&lt;script&gt;">',
  )
  expect(shown).not.toContain('href="javascript')
  await fetch(`${sandbox.url}/sandbox/reset`, { method: 'POST' })
  expect(await page()).toContain('No email yet.')
})

test('what is no mail, or comes from another website, is refused', async () => {
  const refused = { ...MAIL, subject: 'Refused' }
  expect((await send({ ...refused, to: undefined })).status).toBe(400)
  expect((await send(refused, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect(await page()).not.toContain('Refused')
})
