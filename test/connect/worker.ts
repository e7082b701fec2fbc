/** An example: a worker that uses the core without Express to read a list of the user's, by default the leads. */
import * as z from 'zod'
import { createConnect, platform } from '../../src/connect/index.ts'
import { openSqlite } from '../../src/connect/store/sqlite.ts'

const { FILE = '', KEY = '', PLATFORM = '', SECRET = '', USER = '', BXCONTEXT = '' } = process.env
const [path = '/leads'] = process.argv.slice(2)

const store = openSqlite({ file: FILE })
const connect = createConnect({
  store,
  keys: [{ id: 'k1', secret: Buffer.from(KEY, 'base64') }],
  platform,
  client: {
    appUrl: PLATFORM,
    authUrl: `${PLATFORM}/auth`,
    apiUrl: `${PLATFORM}/api`,
    clientId: 'test-client',
    clientSecret: SECRET,
    scopes: ['leads'],
    authorizePath: '/authorize',
    authorizeParams: {},
    pkce: true,
  },
})
const source = connect.vault.tokenSource({ userId: USER, bxcontext: BXCONTEXT })
const schema = z.array(z.looseObject({ id: z.union([z.string(), z.number()]) }))
const { items, total } = await connect.api.list(source, { path, scope: 'leads', schema }, { top: 5 })
console.log(`${items.length} of ${total} at ${path}`)
await connect.close()
await store.close()
