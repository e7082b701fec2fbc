/** Sends a recorded token request again, with other parameters, and shows which rule refuses it. */
import { randomBytes } from 'node:crypto'
import { type Request, Router } from 'express'
import type { SandboxCore } from '../../feature.ts'
import { page, problem } from '../../pages.ts'
import { PLATFORM } from '../../platform.ts'
import type { TokenExchange } from '../../token-exchanges.ts'

const SECRETS = new Set(['code', 'code_verifier', 'client_secret', 'refresh_token', 'access_token'])

/** The value of the form that stands for the secret as it was sent. */
const AS_SENT = ''

/** The rule for each parameter, by its name. */
const RULES: Record<string, string> = {
  code: 'The code must be one that was issued to this client for access that has not ended, and works once (RFC 6749 section 4.1.3; specification 5.3.4).',
  code_verifier:
    'The digest of the verifier must be the code challenge of the consent request (RFC 7636 section 4.6).',
  redirect_uri: 'The redirect URI must be the one of the consent request, exactly (RFC 6749 section 4.1.3).',
  [PLATFORM.bxcontext]: 'The bxcontext must be that of the consent (specification 5.3.6).',
  refresh_token:
    'The refresh token must be one that was issued to this client, and not revoked (RFC 6749 section 6).',
  client_id: 'The client must be registered, and prove who it is (RFC 6749 section 3.2.1).',
  client_secret: 'The client must prove who it is by its secret (RFC 6749 section 3.2.1).',
  grant_type: 'The grant type must be one that the platform supports (RFC 6749 section 5.2).',
  scope: 'The scopes of a refresh may only be those that were granted, or fewer (RFC 6749 section 6).',
}
const SECOND_USE =
  'A code works once. A second use also ends the access that the first one gave, because one of them may be an attack (RFC 6749 section 4.1.2): the app finds the connection revoked.'
const SAME_REFRESH =
  'The same refresh token can be used again, as long as the user has not revoked access (specification 5.3.6).'

/** A change that one press tries. */
interface Experiment {
  label: string
  changes: Record<string, string>
}

export function sendAgainRoutes({ tokenExchanges, appUrl }: SandboxCore): Router {
  const path = '/sandbox/requests/:id'
  return Router()
    .get(path, (req, res) => {
      const sent = tokenExchanges.find(req.params.id)
      if (!sent) return problem(res, 404, NOT_KEPT, req.account)
      const original = tokenExchanges.find(String(req.query.original ?? ''))
      const experiments = experimentsOf(original ?? sent, appUrl)
      const data = { title: 'Edit and send again', account: req.account, experiments }
      return page(res, 'flow-inspector/send-again', {
        ...data,
        ...compared(original ?? sent, original && sent),
      })
    })
    .post(path, async (req, res) => {
      const original = tokenExchanges.find(req.params.id)
      if (!original) return problem(res, 404, NOT_KEPT, req.account)
      if (await original.hasEnded()) return problem(res, 409, ENDED, req.account)
      const parameters = await changed(original, req.body ?? {})
      const response = await fetch(`${here(req)}/auth${PLATFORM.tokenPath}`, {
        method: 'POST',
        body: new URLSearchParams(parameters),
      }).catch(() => undefined)
      const id = response?.headers.get('x-request-id')
      if (!id) return problem(res, 502, 'The token endpoint did not answer. A fault may be set.', req.account)
      return res.redirect(303, `/sandbox/requests/${id}?original=${original.id}`)
    })
}

/** The address where this request arrived. Programs on this machine reach it, which is not certain for the public address. */
function here({ socket: { localAddress = '', localPort } }: Request): string {
  const address = localAddress.replace(/^::ffff:/, '')
  return `http://${address.includes(':') ? `[${address}]` : address}:${localPort}`
}

const NOT_KEPT =
  'The sandbox does not know this request. It keeps the latest 200 since it was started: connect again.'

const ENDED =
  'The access that this request gave has ended, so the platform would refuse everything for that reason. Connect again, and use the new request.'

/** The parameters to send, with the changes of the form. A fresh code replaces the original one, unless the form repeats that. */
async function changed(
  { parameters, issueCode }: TokenExchange,
  form: Record<string, unknown>,
): Promise<Record<string, string>> {
  const next: Record<string, string> = {}
  for (const [name, value] of Object.entries(parameters)) {
    const given = form[name]
    const isSecret = SECRETS.has(name)
    next[name] = typeof given === 'string' && !(isSecret && given === AS_SENT) ? given : value
  }
  const isFresh = next.code === parameters.code && form.repeat !== 'on'
  if (isFresh && issueCode) next.code = await issueCode()
  return next
}

function experimentsOf({ parameters, issueCode }: TokenExchange, appUrl: string): Experiment[] {
  const wrong = randomBytes(32).toString('base64url')
  const experiments: Experiment[] = []
  const offer = (name: string, label: string, value: string) => {
    if (name in parameters) experiments.push({ label, changes: { [name]: value } })
  }
  offer('code_verifier', 'A wrong verifier', wrong)
  offer(PLATFORM.bxcontext, 'Another bxcontext', 'another-business')
  offer('redirect_uri', 'Another redirect URI', `${appUrl}/elsewhere`)
  offer('refresh_token', 'The same refresh token again', AS_SENT)
  offer('refresh_token', 'A refresh token that was never issued', wrong)
  offer('client_secret', 'A wrong client secret', wrong)
  // This comes last, since it ends the connection.
  if (issueCode) experiments.push({ label: 'The code a second time', changes: { repeat: 'on' } })
  return experiments
}

/** The two exchanges as the page shows them: without a secret. `again`: undefined before the request was sent again. */
function compared(original: TokenExchange, again: TokenExchange | undefined) {
  const names = Object.keys(original.parameters)
  // The sandbox has put in the fresh code, so it is not a change of the user.
  const isChanged = (name: string) =>
    name !== 'code' && again !== undefined && again.parameters[name] !== original.parameters[name]
  return {
    original: { id: original.id, at: original.at, ...answerOf(original) },
    again: again && { ...answerOf(again), rules: rulesFor(original, again) },
    parameters: names.map((name) => ({
      name,
      isSecret: SECRETS.has(name),
      value: shown(name, original.parameters[name] ?? ''),
      sent: again && shown(name, again.parameters[name] ?? ''),
      isChanged: isChanged(name),
    })),
  }
}

/** The rules that the changes break, or that allow them. */
function rulesFor(original: TokenExchange, again: TokenExchange): string[] {
  if (again.status === 200) return 'refresh_token' in again.parameters ? [SAME_REFRESH] : []
  const isSame = (name: string) => again.parameters[name] === original.parameters[name]
  if (original.status === 200 && 'code' in original.parameters && isSame('code')) return [SECOND_USE]
  const names = Object.keys(original.parameters).filter((name) => !isSame(name))
  // If there is another change, the fresh code is not what was refused.
  const others = names.filter((name) => name !== 'code')
  return (others.length > 0 ? others : names).flatMap((name) => RULES[name] ?? [])
}

const shown = (name: string, value: string) =>
  SECRETS.has(name) ? `a secret of ${value.length} characters` : value

const answerOf = ({ status, answer }: TokenExchange) => ({
  status,
  answer: Object.entries(answer).map(([name, value]) => ({ name, value: shown(name, String(value)) })),
})
