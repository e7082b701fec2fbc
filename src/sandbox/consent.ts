import { type Request, type Response, Router } from 'express'
import type Provider from 'oidc-provider'
import { errors } from 'oidc-provider'
import { connectableBusiness } from './accounts.ts'
import type { Consents } from './consents.ts'
import type { SandboxState } from './feature.ts'
import { loginUrl, logOut, reachedConsent } from './login.ts'
import { page, problem } from './pages.ts'
import { PLATFORM } from './platform.ts'

type ConsentRequest = NonNullable<Awaited<ReturnType<typeof readRequest>>>

/** The consent page, which shows the app, the business and the requested scopes. The user accepts all, some or none. */
export function consentRoutes(
  { apps, scopes: known, consents, faults }: SandboxState,
  provider: Provider,
): Router {
  const showConsent = (
    res: Response,
    { account, business, uid, clientId, scopes }: ConsentRequest,
    chosen: string[],
    message?: string,
  ) =>
    page(res, 'consent', {
      title: 'Allow access?',
      isDecision: true,
      account,
      business,
      uid,
      app: apps.find((app) => app.clientId === clientId),
      scopes: scopes.map((name) => ({ name, description: known[name], isChosen: chosen.includes(name) })),
      message,
    })

  return Router()
    .get('/consent/:uid', async (req, res) => {
      const request = await readRequest(provider, known, req, res)
      if (!request) return
      const { account, scopes, prompt } = request
      // A login to the platform is a login to the identity provider: users log in once.
      if (prompt === 'login')
        return provider.interactionFinished(req, res, { login: { accountId: account.id } })
      reachedConsent(res)
      showConsent(res, request, scopes)
    })

    .post('/consent/:uid', async (req, res) => {
      const request = await readRequest(provider, known, req, res)
      if (!request) return
      const { answer, scope } = req.body ?? {}
      const finish = (result: Parameters<Provider['interactionFinished']>[2]) =>
        provider.interactionFinished(req, res, result)
      if (answer === 'switch') {
        logOut(res)
        return res.redirect(303, loginUrl(startAddress(apps, request)))
      }
      const chosen = request.scopes.filter((name) => [scope ?? []].flat().includes(name))
      if (answer === 'accept' && chosen.length === 0) {
        res.status(400)
        return showConsent(res, request, chosen, 'Choose at least one permission, or deny access.')
      }
      const { fault } = faults.strike('consent') ?? {}
      const granted = fault === 'missing_scope' ? chosen.slice(0, -1) : chosen
      if (answer !== 'accept' || fault === 'deny' || granted.length === 0)
        return finish({ error: 'access_denied', error_description: 'The user denied the request.' })
      if (fault === 'server_error') return finish({ error: fault })
      const grantId = await saveGrant(provider, consents, request, granted)
      await finish({ consent: { grantId } })
    })
}

/** Reads this browser's consent request. If it is missing, responds with a problem or the login, and returns undefined. */
async function readRequest(provider: Provider, known: SandboxState['scopes'], req: Request, res: Response) {
  const { account } = req
  const details = await provider.interactionDetails(req, res).catch((error: unknown) => {
    if (error instanceof errors.SessionNotFound) return undefined
    throw error
  })
  if (!details) {
    const message =
      'This consent request has already been used or has expired. Start again from the application.'
    problem(res, 400, message, account)
    return undefined
  }
  if (!account) {
    res.redirect(303, loginUrl(req.originalUrl))
    return undefined
  }
  const parameters = details.params as Record<string, string>
  const { client_id: clientId = '', redirect_uri: redirectUri = '', scope = '' } = parameters
  const business = connectableBusiness(account, parameters[PLATFORM.bxcontext])
  if (!business) {
    problem(res, 403, `${account.name} has no business with the requested bxcontext.`, account)
    return undefined
  }
  const scopes = scope.split(' ').filter((name) => name in known)
  return { account, business, clientId, redirectUri, scopes, uid: details.uid, prompt: details.prompt.name }
}

/**
 * Returns the next address for a user who switches accounts: the choice of a business. This consent is for a business that
 * the other account may not have. From there, the browser returns to the application, as at the start.
 */
function startAddress(apps: SandboxState['apps'], { clientId, redirectUri }: ConsentRequest): string {
  const registered = apps.find((app) => app.clientId === clientId)?.redirectUrls ?? []
  const { path, redirectUrl } = PLATFORM.startPage
  const returnsTo = registered.find((url) => url !== redirectUri) ?? redirectUri
  return `${path}?${new URLSearchParams({ [redirectUrl]: returnsTo })}`
}

/** Saves the granted scopes; returns the grant's id. */
async function saveGrant(
  provider: Provider,
  consents: Consents,
  { account, business, clientId, scopes }: ConsentRequest,
  granted: string[],
): Promise<string> {
  const grant = new provider.Grant({ accountId: account.id, clientId })
  grant.addOIDCScope(granted.join(' '))
  const denied = scopes.filter((name) => !granted.includes(name))
  if (denied.length > 0) grant.rejectOIDCScope(denied.join(' '))
  const grantId = await grant.save()
  consents.add({
    grantId,
    account: account.id,
    client: clientId,
    bxcontext: business.bxcontext,
    scopes: granted,
    grantedAt: Date.now(),
  })
  return grantId
}
