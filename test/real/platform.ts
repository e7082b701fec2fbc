import express, { type Express, type RequestHandler } from 'express'
import { vi } from 'vitest'
import type { Running } from '../support/app.ts'
import type { Answer, Visitor } from '../support/visitor.ts'

/** The business that every user of these platforms has. */
export const BXCONTEXT = 'harbour-homes'

/** A platform whose authorization server is a real product. */
export interface RealPlatform {
  /** The settings of the app for this platform. */
  env: Record<string, string>
  /** Every request to the token endpoint so far, and its answer. */
  tokenRequests: TokenRequest[]
  /** Ends every grant, as a user does who withdraws a consent. */
  revoke(): Promise<void>
  close(): Promise<void>
}

export interface TokenRequest {
  grantType: string
  status: number
  /** The answer, with its tokens: they are worth nothing outside of the test. */
  answer: Record<string, unknown>
}

/**
 * What no authorization server has: the page that returns the bxcontext, and an API of any collection, such as
 * `GET /api/leads`. `guard` lets a request pass if its access token is valid.
 */
export function platformShim(guard: RequestHandler): Express {
  return express()
    .get('/oauth2.html', (req, res) => {
      const back = new URL(String(req.query.redirectUrl))
      back.searchParams.set('bxcontext', BXCONTEXT)
      res.redirect(302, back.href)
    })
    .get('/api/:collection', guard, (_req, res) => void res.json([{ id: '1' }]))
}

/** The settings that every platform at `url` has in common. */
export const addressesOf = (url: string) => ({
  PLATFORM_APP_URL: url,
  PLATFORM_AUTH_URL: url,
  PLATFORM_API_URL: `${url}/api`,
})

/** Calls the platform's API for the visitor's connection. */
export const call = (app: Pick<Running, 'url'>, visitor: Visitor): Promise<Answer> =>
  visitor.get(`${app.url}/connections/${BXCONTEXT}/probe`, { accept: 'application/json' })

/** Asks for a new access token. */
export const refresh = (app: Pick<Running, 'url'>, visitor: Visitor): Promise<Answer> =>
  visitor.post(`${app.url}/connections/${BXCONTEXT}/refresh`, { accept: 'application/json' })

/** The requests so far that exchange a refresh token. */
export const refreshesOf = ({ tokenRequests }: RealPlatform) =>
  tokenRequests.filter(({ grantType }) => grantType === 'refresh_token')

/** Lets the clock run from where it is, so that `later` can move it: for the app and the platform, which share it. */
export const startClock = () => vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true })

/** Moves the clock forward. */
export const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000)
