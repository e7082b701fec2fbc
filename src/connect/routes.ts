import { createHash } from 'node:crypto'
import { type Request, Router } from 'express'
import type { Logger } from 'pino'
import { contextSchema, START_PAGE } from '../platform/contract.ts'
import { GrantRejected, Misconfigured, PlatformError, PlatformUnavailable } from '../platform/errors.ts'
import type { OAuth } from '../platform/oauth.ts'
import type { Vault } from '../vault/vault.ts'
import type { Attempts, Browser, Claim } from './attempts.ts'
import { ConnectFailure, consentFailure } from './failure.ts'

export interface ConnectOptions {
  attempts: Attempts
  oauth: OAuth
  vault: Pick<Vault, 'connect'>
  /** The public address of this app: where the platform sends the browser back to. */
  baseUrl: string
  /** The id of the signed-in user. Throws when nobody is. */
  requireUser(req: Request): string
  log: Logger
}

/** The two addresses of ours that the platform's support registers for this app. */
export const redirectUrls = (baseUrl: string) =>
  [`${baseUrl}/connect/context`, `${baseUrl}/connect/callback`] as const

const LONGEST_PARAMETER = 4096

/**
 * The delegated flow as the browser sees it (specification 5.3): begin, receive the context and ask for consent,
 * exchange the code. Every failure is thrown, for the error page.
 */
export function connectRoutes({ attempts, oauth, vault, baseUrl, requireUser, log }: ConnectOptions): Router {
  const [contextUrl, redirectUri] = redirectUrls(baseUrl)
  const browser = (req: Request): Browser => ({
    userId: requireUser(req),
    session: createHash('sha256').update(req.sessionID).digest('base64url'),
  })

  return (
    Router()
      .post('/connect', async (req, res) => {
        await attempts.begin(browser(req))
        res.redirect(303, oauth.startUrl(contextUrl).href)
      })

      // Each of these addresses is good for one visit, so what only looks (a mail scanner's HEAD) must not use it up.
      .head([new URL(contextUrl).pathname, new URL(redirectUri).pathname], (_req, res) => {
        res.status(405).set('Allow', 'GET').end()
      })

      .get(new URL(contextUrl).pathname, async (req, res) => {
        const from = browser(req)
        const context = contextSchema.safeParse(req.query[START_PAGE.context])
        if (!context.success) throw new ConnectFailure('invalid_context')
        const flow = await attempts.receive(from, context.data)
        res.redirect(303, (await oauth.consentUrl({ context: context.data, ...flow, redirectUri })).href)
      })

      .get(new URL(redirectUri).pathname, async (req, res) => {
        const from = browser(req)
        const { state, error, code } = callbackParameters(req)
        const claim = await attempts.claim(from, state)
        const outcome = 'end' in claim ? await finish(claim) : claim
        if ('failed' in outcome) throw new ConnectFailure(outcome.failed)
        res.redirect(303, `/connections?${new URLSearchParams({ connected: outcome.connected })}`)

        // Recording the outcome is best effort: without it, opening this callback again says "unfinished".
        async function finish({ context, codeVerifier, end }: Claim) {
          try {
            if (error !== undefined) throw consentFailure(error)
            if (code === undefined) throw new ConnectFailure('invalid_callback')
            const callbackUrl = new URL(redirectUri)
            callbackUrl.search = new URL(req.originalUrl, baseUrl).search
            const tokens = await oauth.exchange({ callbackUrl, context, state, codeVerifier })
            await vault.connect(from.userId, context, tokens)
            await end({ connected: context }).catch(() => {})
            return { connected: context }
          } catch (failure) {
            const known = explain(failure)
            const { code = 'unfinished', reason, status } = known ?? {}
            log[status === 500 ? 'error' : 'warn']({ code, reason }, 'connect failed')
            await end({ failed: code }).catch(() => {})
            throw known ?? failure
          }
        }
      })
  )
}

/** The answer of the consent page. Throws `ConnectFailure` when it is not one state with one code or error. */
function callbackParameters(req: Request) {
  const one = (name: string): string | undefined => {
    const value = req.query[name]
    if (value === undefined || value === '') return undefined
    if (typeof value !== 'string' || value.length > LONGEST_PARAMETER)
      throw new ConnectFailure('invalid_callback')
    return value
  }
  const [state, code, error] = [one('state'), one('code'), one('error')]
  if (state === undefined || (code === undefined) === (error === undefined)) {
    throw new ConnectFailure('invalid_callback')
  }
  return { state, code, error }
}

/** The failure as this flow tells it; null when it is not about the platform. */
function explain(failure: unknown): ConnectFailure | null {
  if (failure instanceof ConnectFailure) return failure
  if (failure instanceof GrantRejected) return new ConnectFailure('code_rejected')
  const { code, reason } = failure as Partial<PlatformError>
  if (failure instanceof PlatformUnavailable) return new ConnectFailure('platform_unavailable', reason)
  if (failure instanceof Misconfigured) return new ConnectFailure('misconfigured', reason)
  if (failure instanceof PlatformError) return new ConnectFailure('platform_rejected', reason ?? code)
  return null
}
