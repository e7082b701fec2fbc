import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { createHttp, type RetryOptions } from '../../../src/connect/index.ts'
import { sendMails } from '../../../src/features/access-ended-mail/mails.ts'
import { texts } from '../../../src/features/access-ended-mail/texts.ts'
import { createMailTransport } from '../../../src/features/access-ended-mail/transport.ts'
import { texts as webTexts } from '../../../src/web/texts.ts'
import { freePort } from '../../support/ports.ts'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, consent, REF, type VaultSetup } from '../../support/vault.ts'
import { header, linkOf, type MailServer, SENDER, senderOf, startMailServer } from './mail-server.ts'

let setup: VaultSetup
let server: MailServer
const stops: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  setup = await connectedSetup({}, { businessName: 'Harbour Homes' })
  server = await startMailServer()
})
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
  await server.close()
  await setup.close()
})

/** A process that sends emails. After a failure, it tries again at once, unless `retries` sets pauses. */
function mailing(
  retries: RetryOptions = {},
  port = server.port,
  vault = setup.vault,
  wait: () => Promise<void> = () => new Promise(() => {}),
) {
  const logLines: string[] = []
  const settings = { url: `smtp://127.0.0.1:${port}`, from: SENDER, isTlsRequired: false }
  const mails = sendMails({
    vault,
    store: setup.store,
    emailOf: async (userId) => (userId === REF.userId ? 'ann@demo.example' : null),
    transport: createMailTransport(settings, { http: createHttp(), sandboxUrl: undefined }),
    baseUrl: 'https://app.example',
    log: pino({ level: 'info' }, { write: (line) => void logLines.push(line) }),
    retries: { timeoutMs: 60_000, pauseMs: 1, maxPauseMs: 10, ...retries },
    wait,
  })
  stops.push(mails.stop)
  return { ...mails, logLines }
}

/** The platform refuses access, and the vault notices it. */
async function refuse(ref = REF, vault = setup.vault) {
  setup.later(5)
  setup.endpoint.answers(oauthError('invalid_grant'))
  await vault.refresh(ref).catch(() => {})
}
/** The platform ends access, and the vault is sure of it after a second question. */
async function end(ref = REF, vault = setup.vault) {
  await refuse(ref, vault)
  setup.later(60)
  await refuse(ref, vault)
}

describe('when access of a connection ends', () => {
  test('its user gets an email with the name of the connection, when and why, and the link to reconnect it', async () => {
    mailing()
    await end()
    await expect.poll(() => server.mails).toHaveLength(1)
    const [mail] = server.mails
    expect(mail?.to).toEqual(['ann@demo.example'])
    expect(mail && senderOf(mail)).toEqual(SENDER)
    expect(header(mail, 'Subject')).toBe(texts.subject)
    expect(header(mail, 'Auto-Submitted')).toBe('auto-generated')
    const why = webTexts.summary.ended('§').split('§').map(RegExp.escape)
    expect(mail?.text).toMatch(new RegExp(why.join('\\d{1,2} \\w+ \\d{4}, .* UTC')))
    expect(linkOf(mail)).toBe('https://app.example/connect?bxcontext=ctx')
  })

  test('whoever has no address gets none, and the log says so', async () => {
    const { logLines } = mailing()
    const ref = { ...REF, userId: 'bea' }
    await consent(setup.vault, {}, ref)
    await end(ref)
    await expect.poll(() => logLines.join()).toContain('the sign-in has no address of this user')
    expect(server.mails).toEqual([])
  })

  test('a refusal that may heal sends none, although the connection is shown as ended; the end itself does', async () => {
    const { stop } = mailing()
    setup.endpoint.answers({ status: 400, json: { error: 'invalid_request' } })
    for (const seconds of [301, 40]) {
      setup.later(seconds)
      await setup.vault.refresh(REF).catch(() => {})
    }
    expect(await setup.vault.find(REF)).toMatchObject({ view: { state: 'revoked', reason: 'refused' } })
    await setup.vault.label(REF, 'Main shop')
    expect(server.mails).toEqual([])
    await end()
    await stop()
    expect(server.mails.map(({ text }) => text)).toEqual([expect.stringContaining(texts.lead('Main shop'))])
  })

  test('a refusal that the next question heals sends none', async () => {
    const { stop } = mailing()
    await refuse()
    setup.later(60)
    setup.endpoint.answers(tokens())
    await setup.token()
    await stop()
    expect(server.mails).toEqual([])
  })

  test('the platform is asked again without the user, also after an outage of it and of the store, and the mail is sent', async () => {
    const { refresh } = setup.vault
    const outages = [new StoreUnavailableError('down')]
    vi.spyOn(setup.vault, 'refresh').mockImplementation(async (...args) => {
      const outage = outages.pop()
      if (outage) throw outage
      return refresh.apply(setup.vault, args)
    })
    const answers = [{ status: 503, json: {} }, { status: 503, json: {} }, oauthError('invalid_grant')]
    mailing({}, server.port, setup.vault, async () => {
      await setup.vault.idle()
      setup.later(61)
      setup.endpoint.answers(answers.shift() ?? expect.fail('asked too often'))
    })
    setup.later(5)
    setup.endpoint.answers(oauthError('invalid_grant'))
    await refresh.call(setup.vault, REF).catch(() => {})
    await expect.poll(() => server.mails).toHaveLength(1)
    expect(answers).toEqual([])
  })

  test('a disconnect by the user sends none', async () => {
    const { stop, logLines } = mailing()
    await setup.vault.disconnect(REF)
    await stop()
    expect({ mails: server.mails, logLines }).toEqual({ mails: [], logLines: [] })
  })

  test('what happens to the record afterwards sends no second one; after a new consent, the next end does', async () => {
    const { stop } = mailing()
    await end()
    await expect.poll(() => server.mails).toHaveLength(1)
    await setup.vault.label(REF, 'Main shop')
    await end()
    await consent(setup.vault)
    expect(server.mails).toHaveLength(1)
    await end()
    await expect.poll(() => server.mails).toHaveLength(2)
    await setup.vault.disconnect(REF)
    await stop()
    expect(server.mails).toHaveLength(2)
  })
})

describe('when access of many connections of a user ends', () => {
  /** Connections of one user, whose access ends one after the other. */
  async function endAll(userId: string, from: number, to: number) {
    for (let number = from; number <= to; number++) {
      const ref = { userId, bxcontext: `ctx-${number}` }
      await consent(setup.vault, {}, ref)
      await end(ref)
    }
  }

  test('the user gets three emails within a day, whichever process sends them, and more on the next day', async () => {
    const other = setup.anotherVault()
    const [one, two] = [mailing(), mailing({}, server.port, other)]
    await endAll(REF.userId, 1, 2)
    await expect.poll(() => server.mails).toHaveLength(2)
    for (const number of [3, 4, 5]) {
      const ref = { ...REF, bxcontext: `ctx-${number}` }
      await consent(other, {}, ref)
      await end(ref, other)
    }
    await expect.poll(() => two.logLines.join().match(/this user got 3 within a day/g)).toHaveLength(2)
    await expect.poll(() => server.mails).toHaveLength(3)
    setup.later(86_400)
    await endAll(REF.userId, 6, 6)
    await expect.poll(() => server.mails).toHaveLength(4)
    await Promise.all([one.stop(), two.stop()])
  })

  test('an email that is sent again counts once', async () => {
    server.refusals.push({ responseCode: 451 }, { responseCode: 451 }, { responseCode: 451 })
    mailing()
    await endAll(REF.userId, 1, 1)
    await expect.poll(() => server.mails).toHaveLength(1)
    await endAll(REF.userId, 2, 3)
    await expect.poll(() => server.mails).toHaveLength(3)
  })
})

describe('while the mail server is down', () => {
  test('the mail waits, and is sent when the server is back', async () => {
    const port = await freePort()
    const failed = Promise.withResolvers<void>()
    mailing({ onWait: () => failed.resolve() }, port)
    await end()
    await failed.promise
    const late = await startMailServer(port)
    stops.push(late.close)
    await expect.poll(() => late.mails).toHaveLength(1)
  })

  test('an email that the server puts off is sent again, as the same email', async () => {
    server.refusals.push({ responseCode: 451, isAfterContent: true }, { responseCode: 451 })
    mailing()
    await end()
    await expect.poll(() => server.mails).toHaveLength(1)
    const idIn = (raw = '') => /^Message-ID: (.*)$/im.exec(raw)?.[1]
    expect(idIn(server.refused[0])).toMatch(/@app\.example>$/)
    expect(idIn(server.mails[0]?.raw)).toBe(idIn(server.refused[0]))
  })

  test('a user who has connected again, or disconnected, in the meantime gets no email', async () => {
    const port = await freePort()
    const other = { ...REF, bxcontext: 'other' }
    await consent(setup.vault, {}, other)
    const [both, meanwhile] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const find = setup.vault.find.bind(setup.vault)
    const tried = new Set<string>()
    // The second attempt of each waits, so that the test can act first.
    vi.spyOn(setup.vault, 'find').mockImplementation(async (ref) => {
      if (tried.has(ref.bxcontext)) await meanwhile.promise
      tried.add(ref.bxcontext)
      return find(ref)
    })
    let waits = 0
    const { stop } = mailing({ onWait: () => ++waits === 2 && both.resolve() }, port)
    await end()
    await end(other)
    await both.promise
    await consent(setup.vault)
    await setup.vault.disconnect(other)
    const late = await startMailServer(port)
    stops.push(late.close)
    meanwhile.resolve()
    // The last email that waits. The earlier emails were dropped or sent.
    const third = { ...REF, bxcontext: 'third' }
    await consent(setup.vault, {}, third)
    await end(third)
    await expect.poll(() => late.mails.map(linkOf)).toEqual(['https://app.example/connect?bxcontext=third'])
    await stop()
    expect(late.mails).toHaveLength(1)
  })

  test('a user whose access has ended once more gets one mail', async () => {
    const port = await freePort()
    const waiting = Promise.withResolvers<void>()
    let waits = 0
    const { stop } = mailing({ onWait: () => ++waits === 2 && waiting.resolve() }, port)
    await end()
    await consent(setup.vault)
    await end()
    await waiting.promise
    const late = await startMailServer(port)
    stops.push(late.close)
    await expect.poll(() => late.mails).toHaveLength(1)
    await stop()
    expect(late.mails).toHaveLength(1)
  })

  test('an email is given up when its time is over, with a line in the log that names no address', async () => {
    const { logLines } = mailing({ timeoutMs: 0 }, await freePort())
    await end()
    await expect.poll(() => logLines).toHaveLength(1)
    expect(JSON.parse(logLines[0] ?? '')).toMatchObject({
      level: 50,
      consent: expect.any(Number),
      reason: 'ECONNREFUSED',
      msg: 'the mail that access has ended was not sent',
    })
    expect(logLines[0]).not.toContain('ann')
  })

  test('an email that the server refuses for good is not sent again', async () => {
    server.refusals.push({ responseCode: 550 })
    const { logLines } = mailing()
    await end()
    await expect.poll(() => logLines.join()).toContain('EENVELOPE 550')
    expect(logLines.join()).not.toContain('demo.example')
    expect(server.mails).toEqual([])
  })

  test('a process that stops does not wait for it, and logs what was not sent', async () => {
    const failed = Promise.withResolvers<void>()
    const slow = { pauseMs: 3_600_000, maxPauseMs: 3_600_000, timeoutMs: 9_000_000 }
    const { stop, logLines } = mailing({ ...slow, onWait: () => failed.resolve() }, await freePort())
    await end()
    await failed.promise
    await stop()
    expect(logLines.join()).toContain('this process is stopping')
  })
})

test('a process that stops finishes the mail that is being sent, and logs an end that it notices afterwards', async () => {
  const { stop, logLines } = mailing()
  await end()
  await stop()
  expect({ mails: server.mails.length, logLines }).toEqual({ mails: 1, logLines: [] })
  const late = { ...REF, bxcontext: 'late' }
  await consent(setup.vault, {}, late)
  await end(late)
  await expect.poll(() => logLines.join()).toContain('this process is stopping')
  expect(server.mails).toHaveLength(1)
})

test('two processes that notice the same end send one mail', async () => {
  const other = setup.anotherVault()
  const [one, two] = [mailing(), mailing({}, server.port, other)]
  setup.endpoint.answers(oauthError('invalid_grant'))
  for (const seconds of [0, 60]) {
    setup.later(seconds)
    await Promise.allSettled([setup.vault.refresh(REF), other.refresh(REF)])
  }
  await Promise.all([one.stop(), two.stop()])
  expect(server.mails).toHaveLength(1)
})
