import { createConnect, platform } from 'connect-core'
import { connectRoutes, redirectFailedCallback } from 'connect-core/express'
import { openSqlite } from 'connect-core/stores'
import express from 'express'
import session from 'express-session'
import * as z from 'zod'

const { PORT, PLATFORM, CLIENT_SECRET, SESSION_SECRET, ENCRYPTION_KEY } = process.env
const baseUrl = `http://localhost:${PORT}`
const store = openSqlite({ file: 'connections.sqlite' })
const connect = createConnect({
  store,
  keys: [{ id: 'k1', secret: Buffer.from(ENCRYPTION_KEY, 'base64') }],
  platform,
  client: {
    appUrl: PLATFORM,
    authUrl: `${PLATFORM}/auth`,
    apiUrl: `${PLATFORM}/api`,
    clientId: 'sandbox-client',
    clientSecret: CLIENT_SECRET,
    scopes: ['leads'],
    authorizePath: '/authorize',
    authorizeParams: {},
    pkce: true,
  },
  log: console,
})

const requireUser = ({ session: { user } }) => {
  if (user === undefined)
    throw Object.assign(new Error('Sign in.'), { status: 401, code: 'signed_out', expose: true })
  return user
}
const pages = {
  isSignedIn: (req) => req.session.user !== undefined,
  requireUser,
  connectedPage: async () => '/connections',
  sendRedirectPage: (_req, res, url) =>
    res.send(
      `<meta http-equiv="refresh" content="0; url=${url}"><a href="${url}">Continue to the platform</a>`,
    ),
  confirmDifferentBusiness: (_req, res, { id }) =>
    res.send(
      `<form method="post" action="/connect/confirm/${id}"><button name="do">Connect this business</button></form>`,
    ),
}
const leads = { path: '/leads', scope: 'leads', schema: z.array(z.looseObject({ id: z.unknown() })) }

const app = express()
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }))
app.use(express.urlencoded({ extended: false }))
const button = (path, label) =>
  `<form method="post" action="${path}"><button name="do">${label}</button></form>`
app.get('/', (_req, res) => res.send(button('/sign-in', 'Sign in') + button('/connect', 'Connect')))
app.post('/sign-in', (req, res) => {
  req.session.user = 'ann'
  res.redirect(303, '/')
})
app.use('/connect', connectRoutes({ connect, baseUrl, pages, log: console }))
app.get('/connections', async (req, res) => res.json(await connect.vault.list(requireUser(req))))
app.get('/connections/:bxcontext/leads', async (req, res) => {
  const source = connect.vault.tokenSource({ userId: requireUser(req), bxcontext: req.params.bxcontext })
  res.json(await connect.api.list(source, leads, { top: 5 }))
})
app.use(redirectFailedCallback(console))
app.use((error, _req, res, _next) => {
  const { status = 500, code = 'internal_error', expose } = error
  res.status(status).json({ code, message: expose ? error.message : 'Something went wrong.' })
})
app.listen(PORT)
