import { Router } from 'express'
import * as z from 'zod'
import { ConnectionRevokedError, NotConnectedError } from '../../connect/errors.ts'
import { describeRoute } from '../../connect/express.ts'
import { parseJson, type Vault } from '../../connect/index.ts'
import { connectionRef } from '../../web/connections.ts'
import { sendPageOrJson } from '../../web/respond.ts'
import type { FlowStore } from './flow-store.ts'
import { PAGE_DATA, rowOf } from './view.ts'

const time = z.iso.datetime().nullable()
/** One member of a token's header or claims. Without a `value`, it may be personal data, or is not of the usual type. */
const claims = z.array(z.object({ name: z.string(), value: z.union([z.string(), z.number()]).optional() }))
type Claims = z.infer<typeof claims>

const tokensSchema = z.object({
  bxcontext: z.string(),
  issuedAt: time,
  expiresAt: time,
  lastUsedAt: time,
  /** How often this grant was refreshed. */
  refreshes: z.number().int(),
  /** `none`: there is no refresh token. `same`, `rotated`: whether the last refresh returned another one. */
  refreshToken: z.enum(['none', 'same', 'rotated']),
  requestedScopes: z.array(z.string()),
  /** Null if the platform does not name them. */
  scopes: z.array(z.string()).nullable(),
  /** The header and the public claims of an access token that is a JWT; otherwise null. */
  claims: z.object({ header: claims, claims }).nullable(),
  events: z.array(z.object({ at: z.string(), kind: z.string(), outcome: z.string(), flow: z.string() })),
})

export interface TokenRoutesOptions {
  vault: Pick<Vault, 'find' | 'accessToken'>
  flows: FlowStore
  requestedScopes: readonly string[]
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

/** `GET /connections/:bxcontext/tokens`: what is known of a connection's tokens, never a token. */
export function tokenRoutes({ vault, flows, requestedScopes }: TokenRoutesOptions): Router {
  return Router().get(
    '/connections/:bxcontext/tokens',
    describeRoute({
      summary: 'What is known of the tokens of a connection, without the tokens.',
      response: tokensSchema,
      errors: ['not_connected', 'connection_revoked'],
    }),
    async (req, res) => {
      const ref = connectionRef(req)
      const { bxcontext } = ref
      const connection = await vault.find(ref)
      if (!connection) throw new NotConnectedError()
      const { view, tokens, scopes, businessName } = connection
      if (view.state === 'revoked') throw new ConnectionRevokedError(view.at, view.reason)
      if (!tokens) throw new NotConnectedError()
      const isValid = tokens.expiresAt === null || tokens.expiresAt > Date.now()
      const ofConnection = (await flows.list(ref.userId)).filter((flow) => flow.bxcontext === bxcontext)
      // Calls that simply worked are no events.
      const rows = ofConnection.filter(({ outcome }) => outcome !== 'answered').map(rowOf)
      const panel: z.input<typeof tokensSchema> = {
        bxcontext,
        issuedAt: iso(tokens.issuedAt),
        expiresAt: iso(tokens.expiresAt),
        lastUsedAt: iso(connection.lastUsedAt),
        refreshes: tokens.refreshes,
        refreshToken: tokens.refreshToken,
        requestedScopes: [...requestedScopes],
        scopes,
        // Of an expired token: to look must not refresh it.
        claims: isValid ? readTokenClaims(await vault.accessToken(ref)) : null,
        events: rows.map(({ startedAt: at, kind, outcome, id: flow }) => ({ at, kind, outcome, flow })),
      }
      sendPageOrJson(req, res, {
        view: 'flow-inspector/tokens',
        title: `Tokens of ${businessName ?? bxcontext}`,
        data: { panel, rows, bxcontext, ...PAGE_DATA },
        json: panel,
      })
    },
  )
}

/** RFC 7515 section 4.1. */
const HEADER_NAMES = new Set(['alg', 'typ', 'kid'])
/** RFC 7519 section 4.1 and RFC 9068 section 2.2; `azp` and `scp` are common at identity providers. `sub` is a person. */
const CLAIM_NAMES = new Set(['iss', 'aud', 'client_id', 'azp', 'scope', 'scp'])
/** Claims that are times, in seconds since 1970. */
const TIME_NAMES = new Set(['exp', 'iat', 'nbf'])
const MAX_CLAIMS = 50
const MAX_LENGTH = 200

/**
 * The header and claims of an access token that is a signed JWT (RFC 7519, RFC 9068), at most 50 each, with texts of at
 * most 200 characters; null for any other token. Nothing is verified: this is for display, not for decisions.
 */
export function readTokenClaims(accessToken: string): { header: Claims; claims: Claims } | null {
  const [, ...parts] = /^([\w-]+)\.([\w-]+)\.[\w-]*$/.exec(accessToken) ?? []
  const [header, payload] = parts.map((part) => parseJson(Buffer.from(part, 'base64url').toString()))
  if (!isObject(header) || !isObject(payload) || !('alg' in header) || typeof header.alg !== 'string')
    return null
  return { header: claimsOf(header, HEADER_NAMES), claims: claimsOf(payload, CLAIM_NAMES) }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function claimsOf(members: object, publicNames: ReadonlySet<string>): Claims {
  return Object.entries(members)
    .slice(0, MAX_CLAIMS)
    .map(([name, member]) => {
      const claim = { name: name.slice(0, MAX_LENGTH) }
      if (TIME_NAMES.has(name) && typeof member === 'number') return { ...claim, value: member }
      // A text, or a list of texts such as several audiences.
      const texts = [member].flat()
      const isShown = publicNames.has(name) && texts.every((text) => typeof text === 'string')
      return isShown ? { ...claim, value: texts.join(' ').slice(0, MAX_LENGTH) } : claim
    })
}
