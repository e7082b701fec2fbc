import { expect, vi } from 'vitest'
import { sessionCookie } from '../../src/web/sign-in/session.ts'
import type { Running } from './app.ts'
import { CLIENT } from './env.ts'
import { signedIn, toCallback } from './flow.ts'
import { storedTokens } from './stored.ts'
import type { Answer, Visitor } from './visitor.ts'

const REF = { userId: 'ann', bxcontext: 'harbour-homes' }

/** Collects secrets, and everything that the app prints, logs and answers, and then searches the output for the secrets. */
export async function watchSecrets(app: Running, more: Record<string, string> = {}) {
  const printed: string[] = []
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, method).mockImplementation((...args) => void printed.push(args.map(String).join(' ')))
  }
  const secrets = new Map<string, string>([
    ['client secret', CLIENT.clientSecret],
    ['session secret', String(app.config.sessionSecrets[0])],
    ['encryption key', String(app.config.tokenEncryptionKeys[0]?.secret.toString('base64'))],
    ...Object.entries(more),
  ])
  const answers: { where: string; text: string }[] = []
  const visitor = listening(app, await signedIn(app), answers)
  const { store, connect } = app.services
  const authorizationUrl = vi.spyOn(connect.oauth, 'authorizationUrl')

  /** Adds the current tokens and the current session to the secrets. */
  async function collect(): Promise<void> {
    const stored = await storedTokens(store, app.config.tokenEncryptionKeys, REF)
    if (stored) {
      secrets.set(`access token ${secrets.size}`, stored.accessToken)
      secrets.set(`refresh token ${secrets.size}`, stored.refreshToken)
    }
    const cookie = decodeURIComponent(
      visitor.cookies.get(new URL(app.url).host)?.get(sessionCookie(app.url)) ?? '',
    )
    const [, id = '', signature = ''] = /^s:([^.]+)\.(.+)$/.exec(cookie) ?? []
    secrets.set(`session id ${id}`, id)
    secrets.set(`session signature ${id}`, signature)
  }

  return {
    visitor,
    secrets,
    answers,
    collect,
    /** Connects the account, with the code and the code verifier among the secrets. */
    async connect(): Promise<void> {
      const url = await toCallback(app, visitor)
      const { searchParams } = new URL(url)
      if (searchParams.has('code')) secrets.set(`code ${secrets.size}`, String(searchParams.get('code')))
      secrets.set(`code verifier ${secrets.size}`, String(authorizationUrl.mock.lastCall?.[0].codeVerifier))
      for (const accept of ['text/html', 'application/json']) await visitor.get(url, { accept })
      await collect()
    },
    expectNoLeaks(): void {
      vi.restoreAllMocks()
      const everything = [
        ...answers,
        ...app.logLines.map((text) => ({ where: 'log', text })),
        ...printed.map((text) => ({ where: 'console', text })),
      ]
      const leaks = [...secrets].flatMap(([name, secret]) =>
        everything
          .filter(({ text }) => secret && text.includes(secret))
          .map(({ where }) => `${name} in ${where}`),
      )
      expect(leaks).toEqual([])
    },
  }
}

/** The visitor. Records every answer of the app except the cookie, which is a secret. */
function listening(app: Running, visitor: Visitor, answers: { where: string; text: string }[]): Visitor {
  const listen = (answer: Answer): Answer => {
    if (!answer.url.startsWith(app.url)) return answer
    const headers = [...answer.headers].filter(([name]) => name !== 'set-cookie')
    answers.push({ where: new URL(answer.url).pathname, text: `${JSON.stringify(headers)}\n${answer.text}` })
    return answer
  }
  const { get, post } = visitor
  visitor.get = async (url, options) => listen(await get(url, options))
  visitor.post = async (url, options) => listen(await post(url, options))
  return visitor
}
