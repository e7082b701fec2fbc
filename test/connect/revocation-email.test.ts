import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { sharedApp } from '../support/app.ts'
import { connected, newUser } from '../support/flow.ts'
import { revocationEmail } from './revocation-email.ts'

const app = await sharedApp()

/** A mail server that accepts everything. */
async function startMailServer() {
  const mails: string[] = []
  const server = createServer((socket) => {
    let data: string | null = null
    socket.write('220 ready\r\n')
    socket.on('data', (chunk) => {
      const text = chunk.toString()
      if (data === null) {
        if (text.startsWith('DATA')) data = ''
        return void socket.write(text.startsWith('DATA') ? '354 go on\r\n' : '250 ok\r\n')
      }
      data += text
      if (!data.endsWith('\r\n.\r\n')) return
      mails.push(data)
      data = null
      socket.write('250 ok\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `smtp://127.0.0.1:${port}`, mails, close: () => server.close() }
}

test('the example sends one email when access is revoked, with the reason and a way back', async () => {
  const server = await startMailServer()
  const options = {
    smtpUrl: server.url,
    from: 'app@example.com',
    addressOf: async (id: string) => `${id}@example.com`,
  }
  const parts = await revocationEmail(options).create?.(app.services.deps, undefined)
  const name = newUser()
  const visitor = await connected(app, { name })
  await app.sandbox('revoke')
  await visitor.get(`${app.url}/connections/harbour-homes/probe`)
  await expect.poll(() => server.mails).toHaveLength(1)
  await visitor.get(`${app.url}/connections/harbour-homes/probe`)
  expect(server.mails).toHaveLength(1)
  expect(server.mails[0]).toMatch(new RegExp(`To: ${name}@[^]*invalid_grant[^]*/connections`))
  await parts?.stop?.()
  server.close()
})
