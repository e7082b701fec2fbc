import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startAll } from '../support/app.ts'
import { connected } from '../support/flow.ts'
import { revocationEmail } from './revocation-email.ts'

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
  const app = await startAll()
  const options = {
    smtpUrl: server.url,
    from: 'app@example.com',
    addressOf: async (id: string) => `${id}@example.com`,
  }
  const parts = await revocationEmail(options).create?.(app.services.deps, undefined)
  const ann = await connected(app, { name: 'ann' })
  await app.sandbox('revoke')
  await ann.get(`${app.url}/connections/harbour-homes/probe`)
  await expect.poll(() => server.mails).toHaveLength(1)
  await pause(300)
  expect(server.mails).toHaveLength(1)
  expect(server.mails[0]).toMatch(/To: .*ann[\s\S]*invalid_grant[\s\S]*\/connections/)
  await parts?.stop?.()
  await app.close()
  server.close()
})
