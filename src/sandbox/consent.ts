import { type Request, type Response, Router } from 'express'
import type Provider from 'oidc-provider'
import { errors } from 'oidc-provider'
import { businessOf } from './accounts.ts'
import type { Database } from './database.ts'
import type { Faults } from './faults.ts'
import { type RegisteredApp, SCOPES } from './identity.ts'
import { cameToConsent, loginUrl, logOut } from './login.ts'
import { page, problem } from './pages.ts'

export interface ConsentOptions {
  provider: Provider
  apps: RegisteredApp[]
  database: Database
  faults: Faults
}

/** The consent page: who asks, for which business, for what; accept, accept a part, or deny. */
export function consentRoutes({ provider, apps, database, faults }: ConsentOptions): Router {
  /** The consent that is asked for in this browser, or undefined when a page was shown instead. */
  async function asked(req: Request, res: Response) {
    const account = req.account
    const details = await provider.interactionDetails(req, res).catch((error: unknown) => {
      if (error instanceof errors.SessionNotFound) return undefined
      throw error
    })
    if (!details) {
      problem(
        res,
        400,
        'This consent was answered already, or it is too old. Start again from the application.',
        account,
      )
      return undefined
    }
    if (!account) {
      res.redirect(303, loginUrl(req))
      return undefined
    }
    const { client_id, scope, bxcontext } = details.params as Record<string, string>
    const business = businessOf(account, bxcontext)
    if (!business) {
      problem(res, 403, `${account.name} has no business with the bxcontext that was asked for.`, account)
      return undefined
    }
    const app = apps.find(({ clientId }) => clientId === client_id)
    const scopes = (scope ?? '').split(' ').filter((name) => name in SCOPES)
    return { account, business, app, details, scopes }
  }

  return Router()
    .get('/consent/:uid', async (req, res) => {
      const consent = await asked(req, res)
      if (!consent) return
      const { account, business, app, scopes, details } = consent
      // The platform's login is the identity provider's too: nobody logs in twice.
      if (details.prompt.name === 'login') {
        return provider.interactionFinished(req, res, { login: { accountId: account.id } })
      }
      cameToConsent(res)
      page(res, 'consent', {
        title: 'Allow access?',
        ...{ account, business, uid: details.uid },
        app,
        scopes: scopes.map((name) => ({ name, words: SCOPES[name] })),
      })
    })

    .post('/consent/:uid', async (req, res) => {
      const consent = await asked(req, res)
      if (!consent) return
      const { account, business, scopes, details } = consent
      if (req.body?.answer === 'switch') {
        // The application asked for this business; another one is chosen where it starts.
        logOut(res)
        return provider.interactionFinished(req, res, {
          error: 'access_denied',
          error_description: 'The user switches to another account.',
        })
      }
      const { fault } = faults.strike('consent') ?? {}
      const chosen = [req.body?.scope ?? []].flat()
      const granted = scopes
        .filter((name) => chosen.includes(name))
        .filter((_name, index, all) => fault !== 'missing_scope' || index < all.length - 1)
      if (req.body?.answer !== 'accept' || fault === 'deny' || granted.length === 0) {
        return provider.interactionFinished(req, res, {
          error: 'access_denied',
          error_description: 'The user denied the request.',
        })
      }
      if (fault === 'server_error') return provider.interactionFinished(req, res, { error: fault })
      const clientId = String(details.params.client_id)
      const grant = new provider.Grant({ accountId: account.id, clientId })
      grant.addOIDCScope(granted.join(' '))
      const refused = scopes.filter((name) => !granted.includes(name))
      if (refused.length > 0) grant.rejectOIDCScope(refused.join(' '))
      const grantId = await grant.save()
      const { context } = business
      database.consents.add({
        grantId,
        account: account.id,
        client: clientId,
        context,
        scopes: granted,
        grantedAt: Date.now(),
      })
      await provider.interactionFinished(
        req,
        res,
        { consent: { grantId } },
        { mergeWithLastSubmission: true },
      )
    })
}
