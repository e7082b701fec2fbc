import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { Router } from 'express'
import * as z from 'zod'
import { badInput } from '../requests/errors.ts'
import { rejectForm } from '../requests/rejected-form.ts'
import { sendResultOrRedirect } from '../requests/respond.ts'
import { signedInPath } from './session-routes.ts'
import { type OwnSignIn, signIn } from './user.ts'

const form = z.object({ email: z.email(), password: z.string(), do: z.enum(['sign-in', 'create']) })
const signedIn = z.object({ token: z.string(), user: z.object({ id: z.string(), email: z.string() }) })
const refused = z.object({ message: z.string() })
const PAGE = { view: 'app/own-sign-in', title: 'Sign in', data: {} }

export const ownSignIn: OwnSignIn = async ({ baseUrl, dataDir }) => {
  const auth = betterAuth({
    baseURL: baseUrl,
    database: new DatabaseSync(join(dataDir, 'accounts.sqlite')),
    // Without `autoSignIn`, an address that has an account already is answered like a new one.
    emailAndPassword: { enabled: true, autoSignIn: false, minPasswordLength: 12 },
    rateLimit: { enabled: true, storage: 'database' },
    logger: { disabled: true },
    telemetry: { enabled: false },
  })
  await (await getMigrations(auth.options)).runMigrations()
  const { internalAdapter: accounts } = await auth.$context

  /** Asks better-auth, which counts attempts by the IP address. */
  async function ask(path: string, ip: string, body: object): Promise<unknown> {
    const headers = { 'content-type': 'application/json', origin: baseUrl, 'x-forwarded-for': ip }
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await auth.handler(new Request(`${baseUrl}/api/auth${path}`, request))
    if (answer.ok) return answer.json()
    throw badInput('password', refused.parse(await answer.json()).message)
  }
  const routes = Router()
    .get('/sign-in', (_req, res) => res.page(PAGE.view, PAGE))
    .post('/sign-in', async (req, res) => {
      try {
        const { do: pressed, ...given } = form.parse(req.body ?? {})
        const ip = req.ip ?? ''
        if (pressed === 'create') await ask('/sign-up/email', ip, { ...given, name: given.email })
        // Whether the account is new or not, only its password signs in.
        const { token, user } = signedIn.parse(await ask('/sign-in/email', ip, given))
        // This app has sessions of its own.
        await accounts.deleteSession(token)
        await signIn(req, { id: user.id, name: user.email })
        await sendResultOrRedirect(req, res, signedInPath(req.query.returnTo), { user: { name: user.email } })
      } catch (error) {
        await rejectForm(req, res, error, async () => PAGE)
      }
    })
  return {
    routes,
    deleteUser: (userId) => accounts.deleteUser(userId),
    exportUser: async (userId) => (await accounts.findUserById(userId)) ?? null,
    async emailOf(userId) {
      const user = await accounts.findUserById(userId)
      return user?.emailVerified ? user.email : null
    },
  }
}
