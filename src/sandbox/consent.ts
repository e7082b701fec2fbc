import { type Request, type Response, Router } from 'express'
import type Provider from 'oidc-provider'
import { errors } from 'oidc-provider'
import { connectableBusiness } from './accounts.ts'
import type { Consents } from './consents.ts'
import type { Faults } from './faults.ts'
import { type RegisteredApp, SCOPES } from './identity.ts'
import { loginUrl, logOut, reachedConsent } from './login.ts'
import { page, problem } from './pages.ts'

export interface ConsentOptions {
  provider: Provider
  apps: RegisteredApp[]
  consents: Consents
  faults: Faults
}

/** The consent page: who asks, for which business, for what; accept all scopes, accept some, or deny. */
export function consentRoutes({ provider, apps, consents, faults }: ConsentOptions): Router {
  /** The consent request in this browser; undefined when a page was shown instead. */
  async function pendingConsent(req: Request, res: Response) {
    const account = req.account
    const details = await provider.interactionDetails(req, res).catch((error: unknown) => {
      if (error instanceof errors.SessionNotFound) return undefined
      throw error
    })
    if (!details) {
      problem(
        res,
        400,
        'This consent request has already been used or has expired. Start again from the application.',
        account,
      )
      return undefined
    }
    if (!account) {
      res.redirect(303, loginUrl(req))
      return undefined
    }
    const { client_id, scope, bxcontext } = details.params as Record<string, string>
    const business = connectableBusiness(account, bxcontext)
    if (!business) {
      problem(res, 403, `${account.name} has no business with the requested bxcontext.`, account)
      return undefined
    }
    const app = apps.find(({ clientId }) => clientId === client_id)
    const scopes = (scope ?? '').split(' ').filter((name) => name in SCOPES)
    return { account, business, app, details, scopes }
  }

  return Router()
    .get('/consent/:uid', async (req, res) => {
      const consent = await pendingConsent(req, res)
      if (!consent) return
      const { account, business, app, scopes, details } = consent
      // A login to the platform is a login to the identity provider: nobody logs in twice.
      if (details.prompt.name === 'login') {
        return provider.interactionFinished(req, res, { login: { accountId: account.id } })
      }
      reachedConsent(res)
      page(res, 'consent', {
        title: 'Allow access?',
        account,
        business,
        uid: details.uid,
        app,
        scopes: scopes.map((name) => ({ name, description: SCOPES[name] })),
      })
    })

    .post('/consent/:uid', async (req, res) => {
      const consent = await pendingConsent(req, res)
      if (!consent) return
      const { account, business, scopes, details } = consent
      if (req.body?.answer === 'switch') {
        // The application asked for this business: the user can only choose another one by starting again.
        logOut(res)
        return provider.interactionFinished(req, res, {
          error: 'access_denied',
          error_description: 'The user wants to use another account.',
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
      consents.add({
        grantId,
        account: account.id,
        client: clientId,
        bxcontext: business.bxcontext,
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
